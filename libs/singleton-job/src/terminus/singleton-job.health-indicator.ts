import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { SingletonJobHealth } from '../replica/index.js';

/** Tells Terminus how the jobs of this replica are. A provider of the module that imports `TerminusModule`. */
@Injectable()
export class SingletonJobHealthIndicator {
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(SingletonJobHealth) private readonly health: SingletonJobHealth,
  ) {}

  /**
   * Whether this replica can do its part: up also for a follower. Down when the store has not answered for longer than
   * `lockExpiry`, or a job that it leads is overdue. Degraded, which fails no check, when nobody is known to lead a job that
   * it competes for; the Terminus of Nest 11 has no such status, and says up with `degraded: true`.
   */
  isHealthy<const Key extends string>(key: Key): HealthIndicatorResult<Key> {
    const { unreachable, overdue, leaderless } = this.health.report();
    const session = this.indicators.check(key);
    if (unreachable.length > 0 || overdue.length > 0) return session.down({ unreachable, overdue, leaderless });
    if (leaderless.length === 0) return session.up();
    const { degraded } = session as Partial<typeof session>;
    return degraded === undefined ? session.up({ degraded: true, leaderless }) : session.degraded({ leaderless });
  }

  /**
   * Whether the process is worth keeping: down only when a job is stuck that starting anew would free. Neither an outage
   * of the store nor a run without a `timeout` is cured by that.
   */
  isAlive<const Key extends string>(key: Key): HealthIndicatorResult<Key> {
    const stuck = this.health.report().overdue.filter(({ isStuck }) => isStuck);
    const session = this.indicators.check(key);
    return stuck.length > 0 ? session.down({ stuck }) : session.up();
  }
}
