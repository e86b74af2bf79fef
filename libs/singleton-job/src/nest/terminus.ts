import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type HealthReport, SingletonJobHealth } from '../control/singleton-job-health.js';

/** Health checks of this replica for Terminus. Add it to the providers of the module that imports `TerminusModule`. */
@Injectable()
export class SingletonJobHealthIndicator {
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(SingletonJobHealth) private readonly health: SingletonJobHealth,
  ) {}

  /**
   * Whether this replica works, for a readiness check. A follower is up too.
   *
   * - Down: the store has not answered for longer than `lockExpiry`, or a job that this replica leads is overdue.
   * - Degraded, which fails no check: this replica competes for a job and knows of no leader. The Terminus of Nest 11
   *   does not have this status. There it is up with `degraded: true`.
   * - Up with `pauseOfAll` in a pause of all jobs.
   */
  isHealthy<const Key extends string>(key: Key): HealthIndicatorResult<Key> {
    const { unreachable, overdue, leaderless, paused } = this.health.report();
    const session = this.indicators.check(key);
    if (unreachable.length > 0 || overdue.length > 0) return session.down({ unreachable, overdue, leaderless });
    if (leaderless.length === 0) return session.up(...pauseOfAll(paused));
    const { degraded } = session as Partial<typeof session>;
    return degraded === undefined ? session.up({ degraded: true, leaderless }) : session.degraded({ leaderless });
  }

  /**
   * Whether the process should live on, for a liveness check. Down only when a job is stuck and a restart of the
   * process would free it. A restart fixes neither an outage of the store nor a run without a `timeout`.
   */
  isAlive<const Key extends string>(key: Key): HealthIndicatorResult<Key> {
    const stuck = this.health.report().overdue.filter(({ isStuck }) => isStuck);
    const session = this.indicators.check(key);
    return stuck.length > 0 ? session.down({ stuck }) : session.up();
  }
}

/** What a healthy replica shows of it. All jobs are paused by the same one. */
function pauseOfAll(paused: HealthReport['paused']) {
  const all = paused.filter(({ pauseScope }) => pauseScope === 'all').slice(0, 1);
  return all.map(({ pausedAt, pausedUntil, pauseReason }) => ({
    pauseOfAll: { pausedAt, pausedUntil, pauseReason },
  }));
}
