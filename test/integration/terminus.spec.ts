import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestApplication, Inject, Injectable, Module, type Type } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { FixedRate, SingletonJobHealth, SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';
import { RecordingLogger } from '../support/nest-application.js';
import { useRedisServer } from '../support/use-redis.js';
import { until } from '../../tools/replicas/until.js';

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

interface Answer {
  readonly code: number;
  readonly status: string;
  readonly jobs: Readonly<Record<string, unknown>>;
}

/** A replica with a real HTTP server and Terminus on it. */
class Probed implements AsyncDisposable {
  private constructor(
    readonly app: INestApplication,
    private readonly url: string,
  ) {}

  static async start(host: Type, options: SingletonJobOptions): Promise<Probed> {
    @Module({
      imports: [TerminusModule, SingletonJobModule.forRoot(options)],
      controllers: [HealthController],
      providers: [host, SingletonJobHealthIndicator],
    })
    class AppModule {}

    const built = Test.createTestingModule({ imports: [AppModule] }).setLogger(new RecordingLogger());
    const app = (await built.compile()).createNestApplication();
    await app.listen(0, '127.0.0.1');
    return new Probed(app, await app.getUrl());
  }

  async get(probe: 'ready' | 'live'): Promise<Answer> {
    const response = await fetch(`${this.url}/health/${probe}`);
    const { status, details } = (await response.json()) as { status: string; details: { jobs: Answer['jobs'] } };
    return { code: response.status, status, jobs: details.jobs };
  }

  /** Probes again and again, as an orchestrator does, until the answer has this code and status. */
  async untilSays(probe: 'ready' | 'live', code: number, status: string): Promise<Answer> {
    let answer: Answer | undefined;
    await until(`${probe} says ${String(code)} ${status}`, async () => {
      answer = await this.get(probe);
      return answer.code === code && answer.status === status;
    });
    return answer as Answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
  }
}

function isNamed(job: string, { leaderless }: Answer['jobs']): boolean {
  return Array.isArray(leaderless) && leaderless.includes(job);
}

const OK = { code: 200, status: 'ok', jobs: { status: 'up' } };

@Injectable()
class Prices {
  @FixedRate('50ms', { name: 'prices' })
  tick(): void {}
}

describe('the health of a replica, over HTTP', () => {
  const redis = useRedisServer();
  const options = (projectName: string): SingletonJobOptions => ({
    projectName,
    connection: redis().url,
    heartbeatInterval: '300ms',
    lockExpiry: '3s',
    shutdownTimeout: '3s',
  });

  it('is good for the leader and for a follower', async () => {
    const project = `health-${randomUUID()}`;
    await using first = await Probed.start(Prices, options(project));
    await using second = await Probed.start(Prices, options(project));
    for (const replica of [first, second]) {
      expect(await replica.untilSays('ready', 200, 'ok')).toEqual(OK);
      expect(await replica.get('live')).toEqual(OK);
    }
  });

  it('is bad after an outage longer than lockExpiry, but no reason for a restart', async () => {
    const project = `health-${randomUUID()}`;
    await using leader = await Probed.start(Prices, options(project));
    await leader.untilSays('ready', 200, 'ok');
    await using follower = await Probed.start(Prices, options(project));
    await follower.untilSays('ready', 200, 'ok');
    await redis().down();
    try {
      for (const replica of [leader, follower]) {
        // the last leader may be named for one more heartbeat
        await until('it knows of no leader', async () => isNamed('prices', (await replica.get('ready')).jobs));
        const { jobs } = await replica.untilSays('ready', 503, 'error');
        expect(jobs).toEqual({
          status: 'down',
          unreachable: [{ store: 'Redis', forMs: expect.any(Number) }],
          overdue: [],
          leaderless: ['prices'],
        });
        const [outage] = jobs['unreachable'] as { forMs: number }[];
        expect(outage?.forMs).toBeGreaterThanOrEqual(3_000);
        expect(await replica.get('live')).toEqual(OK);
      }
    } finally {
      await redis().up();
    }
    for (const replica of [leader, follower]) expect(await replica.untilSays('ready', 200, 'ok')).toEqual(OK);
  });

  it('is degraded, which fails no probe, while no leader is known', async () => {
    // there is no server: an outage counts only after a lockExpiry
    const nowhere = {
      ...options(`health-${randomUUID()}`),
      connection: 'redis://127.0.0.1:1',
      lockExpiry: '10m',
    } as const;
    await using replica = await Probed.start(Prices, nowhere);
    expect(await replica.get('ready')).toEqual({
      code: 200,
      status: 'degraded',
      jobs: { status: 'degraded', leaderless: ['prices'] },
    });
    expect(await replica.get('live')).toEqual(OK);
  });

  it('is bad when a run ignores its signal, and then needs a restart', async () => {
    const job = randomUUID();
    @Injectable()
    class Hung {
      @FixedRate('100ms', { name: job, timeout: '100ms' })
      tick(): Promise<never> {
        return new Promise(() => undefined);
      }
    }
    await using replica = await Probed.start(Hung, options('health'));
    await replica.untilSays('live', 503, 'error');
    const { code, jobs } = await replica.get('ready');
    expect(code).toBe(503);
    expect(jobs['overdue']).toEqual([
      { name: job, dueAt: expect.any(String), runningSince: expect.any(String), isStuck: true },
    ]);
    const [{ dueAt, runningSince } = { dueAt: '', runningSince: '' }] = jobs['overdue'] as {
      dueAt: string;
      runningSince: string;
    }[];
    expect(Date.parse(dueAt)).toBeLessThanOrEqual(Date.parse(runningSince) + 100);
  });

  it('is good when the application stops', async () => {
    const replica = await Probed.start(Prices, options(`health-${randomUUID()}`));
    await replica.untilSays('ready', 200, 'ok');
    await replica.app.close();
    expect(replica.app.get(SingletonJobHealth).report()).toEqual({ unreachable: [], overdue: [], leaderless: [] });
  });
});
