import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, type Type } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { until } from '../../tools/replicas/until.js';
import { startHttp } from '../support/nest-application.js';
import {
  FixedRate,
  SingletonJobHealth,
  SingletonJobModule,
  type SingletonJobOptions,
  SingletonJobRegistry,
} from 'nestjs-singleton-job';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';

@Controller('health')
class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(SingletonJobHealthIndicator) private readonly jobs: SingletonJobHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.jobs.isHealthy('jobs')]);
  }

  @Get('live')
  @HealthCheck()
  live() {
    return this.health.check([() => this.jobs.isAlive('jobs')]);
  }
}

/** A replica with a real HTTP server and Terminus on it. */
async function start(host: Type, options: Partial<SingletonJobOptions>) {
  const started = await startHttp({
    imports: [TerminusModule, SingletonJobModule.forRoot({ projectName: 'health', ...options })],
    controllers: [HealthController],
    providers: [host, SingletonJobHealthIndicator],
  });
  const get = async (probe: 'ready' | 'live') => {
    const response = await fetch(`${started.url}/health/${probe}`);
    const { status, details } = (await response.json()) as { status: string; details: { jobs: object } };
    return { code: response.status, status, jobs: details.jobs };
  };
  return { ...started, get };
}

const OK = { code: 200, status: 'ok', jobs: { status: 'up' } };

@Injectable()
class Prices {
  @FixedRate('50ms', { name: 'prices' })
  tick(): void {}
}

// which replica is healthy when: singleton-job-health.spec.ts
describe('the health of a replica, over HTTP', () => {
  it('is good, also when the application stops', async () => {
    await using replica = await start(Prices, { store: 'memory' });
    await until('it leads', async () => (await replica.get('ready')).status === 'ok');
    expect([await replica.get('ready'), await replica.get('live')]).toEqual([OK, OK]);
    await replica.app.close();
    expect(replica.app.get(SingletonJobHealth).report()).toEqual({
      unreachable: [],
      overdue: [],
      leaderless: [],
      paused: [],
    });
  });

  it('is good in a pause of all jobs, which it shows', async () => {
    await using replica = await start(Prices, { store: 'memory' });
    await replica.app.get(SingletonJobRegistry).pauseAll({ reason: 'a migration' });
    await until('it shows it', async () => 'pauseOfAll' in (await replica.get('ready')).jobs);
    const pauseOfAll = { pausedAt: expect.any(String), pausedUntil: null, pauseReason: 'a migration' };
    expect(await replica.get('ready')).toEqual({ code: 200, status: 'ok', jobs: { status: 'up', pauseOfAll } });
  });

  it('is degraded, which fails no probe, while no leader is known; after a lockExpiry it is not ready, but alive', async () => {
    // there is no server
    const connection = 'redis://127.0.0.1:1';
    await using replica = await start(Prices, { connection, lockExpiry: '2s' });
    const jobs = { status: 'degraded', leaderless: ['prices'] };
    expect(await replica.get('ready')).toEqual({ code: 200, status: 'degraded', jobs });
    await until('it is not ready', async () => (await replica.get('ready')).code === 503);
    const unreachable = [{ store: 'Redis', forMs: expect.any(Number) }];
    expect(await replica.get('ready')).toEqual({
      code: 503,
      status: 'error',
      jobs: { status: 'down', unreachable, overdue: [], leaderless: ['prices'] },
    });
    expect(await replica.get('live')).toEqual(OK);
  });

  it('is bad when a run ignores its signal, and then needs a restart', async () => {
    @Injectable()
    class Hung {
      @FixedRate('100ms', { name: 'hung', timeout: '100ms' })
      tick(): Promise<never> {
        return new Promise(() => undefined);
      }
    }
    await using replica = await start(Hung, { store: 'memory', lockExpiry: '500ms', shutdownTimeout: '3s' });
    let ready: unknown;
    // on a busy machine the lease may be lost between two answers
    await until('it needs a restart', async () => {
      const live = await replica.get('live');
      ready = await replica.get('ready');
      return live.code === 503 && (ready as typeof live).code === 503;
    });
    const overdue = [{ name: 'hung', dueAt: expect.any(String), runningSince: expect.any(String), isStuck: true }];
    expect(ready).toMatchObject({ status: 'error', jobs: { status: 'down', overdue } });
  });
});
