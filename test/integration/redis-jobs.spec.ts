import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  Cron,
  FixedRate,
  Interval,
  type JobEvents,
  type JobObserver,
  JobRun,
  SingletonJobModule,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';
import { LATE } from '../../tools/replicas/busy-machine.js';
import { type StartedApplication, startApplication } from '../support/nest-application.js';
import { useRedisServer } from '../support/use-redis.js';
import { until } from '../../tools/replicas/until.js';

/** Collects the events of the application, and waits for them. */
class Diary implements JobObserver {
  readonly runs: JobEvents['runSucceeded'][] = [];
  readonly leads: JobEvents['leadershipGained'][] = [];

  runSucceeded(event: JobEvents['runSucceeded']): void {
    this.runs.push(event);
  }

  leadershipGained(event: JobEvents['leadershipGained']): void {
    this.leads.push(event);
  }
}

@Injectable()
class Jobs {
  readonly given: JobRun[] = [];

  @FixedRate('100ms', { name: 'price-tick' })
  tick(run: JobRun): void {
    this.given.push(run);
  }

  @Interval('50ms', { name: 'heartbeat' })
  async beat(): Promise<void> {
    await Promise.resolve();
  }

  @Cron('* * * * * *', { name: 'every-second', timeZone: 'Asia/Singapore' })
  report(): void {
    // the observer sees that it ran
  }
}

describe('An application with jobs on Redis', () => {
  const server = useRedisServer();
  let redis: Redis;
  const started: StartedApplication[] = [];

  beforeEach(() => {
    redis = new Redis(server().url, { retryStrategy: () => 100, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((application) => application[Symbol.asyncDispose]()));
    await redis.flushall();
    redis.disconnect();
  });

  const start = async (options: Partial<SingletonJobOptions> = {}) => {
    const diary = new Diary();
    const module = SingletonJobModule.forRoot({
      projectName: 'myapp',
      connection: server().url,
      heartbeatInterval: '200ms',
      // nothing here waits for it, and a busy machine loses none
      lockExpiry: '10s',
      nodeId: 'pod-1',
      observers: [diary],
      ...options,
    });
    const application = await startApplication({ imports: [module], providers: [Jobs] });
    started.push(application);
    return { ...application, diary, jobs: application.app.get(Jobs) };
  };

  it('runs jobs of all three kinds', async () => {
    const { diary, jobs } = await start();
    await until('each job has run', () => new Set(diary.runs.map(({ job }) => job)).size === 3);
    expect(jobs.given[0]).toBeInstanceOf(JobRun);
    expect(diary.runs.find(({ job }) => job === 'every-second')?.scheduledAt.getMilliseconds()).toBe(0);
  });

  it('keeps leases and records in Redis under the documented keys', async () => {
    const { diary } = await start();
    await until('it leads three jobs', () => diary.leads.length === 3);
    expect((await redis.keys('*')).filter((key) => /price-tick|leases/.test(key)).sort()).toEqual([
      '{myapp}:leases',
      '{myapp}:price-tick:lock',
    ]);
    const leases = await redis.zrange('{myapp}:leases', '0', '-1');
    const [lease = ''] = leases.filter((member) => /^pod-1-[0-9a-f]{8}\.1@10000$/.test(member));
    const record = String(await redis.get('{myapp}:price-tick:lock'));
    expect(record).toContain(`"holder":"${lease}#`);
    expect(await redis.pttl('{myapp}:price-tick:lock')).toBe(-1);
    const token = diary.leads.find(({ job }) => job === 'price-tick')?.fencingToken;
    expect(record).toContain(`"fencingToken":${String(token)}`);
  });

  it('starts without reporting an outage when Redis is there', async () => {
    const { diary, logger } = await start();
    await until('jobs ran', () => diary.runs.length > 5);
    expect(logger.lines.filter((line) => /^(warn|error): /.test(line) && !LATE.test(line))).toEqual([]);
    expect(logger.lines.filter((line) => line.includes('became LEADER'))).toHaveLength(3);
  });

  it('starts while Redis is down, reports it once, and runs when Redis is back', async () => {
    await server().down();
    const { diary, logger } = await start();
    await until('it logs that', () => logger.lines.some((line) => line.includes('Redis is unavailable')));
    await server().up();
    await until('jobs run', () => diary.runs.length > 3);
    const lines = logger.lines.filter((line) => line.includes('Redis'));
    expect(lines.slice(0, 2)).toEqual([
      expect.stringContaining('Redis is unavailable'),
      expect.stringContaining('Redis is available again'),
    ]);
    // a busy machine may be slow to answer for a moment later on
    expect(lines.filter((line) => /ECONNREFUSED|closed/.test(line)).length).toBeLessThanOrEqual(1);
  });
});
