import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import {
  type JobEvents,
  type JobStatus,
  LockService,
  SingletonJobModule,
  type TriggerResult,
} from 'nestjs-singleton-job';
import { type ImportedPrices } from '../../apps/worker/src/prices/price-import.js';
import { useRedisServer } from '../../tools/replicas/redis/use-redis.js';
import { until } from '../../tools/replicas/until.js';
import { type Job, Workers } from '../../tools/replicas/workers.js';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';
import { startApplication } from '../support/nest-application.js';

const redis = useRedisServer();

const PROJECT_NAME = 'over-http';
/** No lease may be lost because the machine is busy. */
const LOCK_EXPIRY = '5s' as const;

interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

async function request<T>(worker: WorkerProcess, path: string, method: 'GET' | 'POST' = 'GET'): Promise<Answer<T>> {
  const response = await fetch(`${worker.url}${path}`, { method, signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  return {
    status: response.status,
    body: (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as T,
  };
}

/** Repeats a request until the answer is as wanted. Otherwise the error contains the last answer. */
async function requestUntil<T>(
  worker: WorkerProcess,
  path: string,
  isWanted: (answer: Answer<T>) => boolean,
): Promise<Answer<T>> {
  let answer: Answer<T> | undefined;
  const holds = async (): Promise<boolean> => isWanted((answer = await request<T>(worker, path)));
  await until(`${worker.node} answers ${path} as wanted`, holds, { details: () => JSON.stringify(answer) });
  return answer as unknown as Answer<T>;
}

/** Does something while another replica, which is none of the workers, has this lock. */
async function whileHeldElsewhere(key: string, act: () => Promise<void>): Promise<void> {
  const options = { projectName: PROJECT_NAME, connection: redis().url, lockExpiry: LOCK_EXPIRY, enabled: false };
  await using elsewhere = await startApplication({ imports: [SingletonJobModule.forRoot(options)] });
  const lock = await elsewhere.app.get(LockService).tryAcquire(key);
  await act();
  expect(lock?.isHeld()).toBe(true);
}

/** The stream of events from a worker, from now on. */
async function listen({ url }: WorkerProcess): Promise<IncomingMessage> {
  const [stream] = (await once(get(`${url}/events`), 'response')) as [IncomingMessage];
  return stream;
}

/** The next event of a job from a worker. */
async function nextTold(worker: WorkerProcess, event: keyof JobEvents, job: Job): Promise<unknown> {
  const stream = await listen(worker);
  let told = '';
  try {
    for await (const line of createInterface({ input: stream })) {
      if (line.startsWith('event: ')) told = line.slice('event: '.length);
      if (!line.startsWith('data: ') || told !== event) continue;
      const payload = JSON.parse(line.slice('data: '.length)) as { readonly job: string };
      if (payload.job === job) return payload;
    }
    throw new Error(`${worker.node} tells no more of ${event}`);
  } finally {
    stream.destroy();
  }
}

describe('over HTTP, workers', () => {
  let workers: Workers;
  beforeAll(async () => {
    workers = await Workers.start(redis().url, {
      SINGLETON_JOB_PROJECT_NAME: PROJECT_NAME,
      PRICE_TICK_SLOW_EVERY: '0',
      SINGLETON_JOB_LOCK_EXPIRY: LOCK_EXPIRY,
      SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: LOCK_EXPIRY,
      PRICE_IMPORT_TAKES: '100ms',
    });
  });
  afterAll(() => workers.kill());

  const leaderOf = (job: Job): WorkerProcess => workers.leaderOf(job);
  const followersOf = (job: Job): WorkerProcess[] => workers.all.filter((worker) => worker !== leaderOf(job));

  it('agree on the leader of each job; only the leader knows its token and its lease', async () => {
    const knowsAll = ({ body }: Answer<JobStatus[]>): boolean => body.every(({ leader }) => leader !== null);
    const lists = await Promise.all(workers.all.map((worker) => requestUntil<JobStatus[]>(worker, '/jobs', knowsAll)));
    for (const [index, { name }] of (lists[0]?.body ?? []).entries()) {
      const seen = lists.map(({ body }) => body[index]);
      expect(new Set(seen.map((status) => status?.leader)).size).toBe(1);
      const leading = seen.filter((status) => status?.role === 'leader');
      expect([name, leading.length]).toEqual([name, 1]);
      expect(leading[0]?.leader).toContain(`${leaderOf(name as Job).node}-`);
      expect(leading[0]?.leaseRemainingMs).toBeGreaterThan(0);
      for (const follower of seen.filter((status) => status?.role === 'follower')) {
        expect(follower).toMatchObject({ fencingToken: null, leaseRemainingMs: null });
      }
    }
  });

  it('run a job on its leader, for a request to any of them', async () => {
    const leader = leaderOf('daily-report');
    const [follower] = followersOf('daily-report');
    if (follower === undefined) throw new Error('there are three workers');
    const started = await request<TriggerResult>(follower, '/jobs/daily-report/trigger', 'POST');
    expect(started).toMatchObject({
      status: 202,
      body: { started: true, by: expect.stringContaining(`${leader.node}-`) },
    });
    const ran = (): boolean =>
      workers.runs('daily-report').some(({ cause, outcome }) => cause === 'trigger' && outcome === 'runSucceeded');
    await workers.until('the triggered run ends', ran);
    const { body } = await request<JobStatus>(leader, '/jobs/daily-report');
    expect(body.lastRun).toMatchObject({ cause: 'trigger', outcome: 'succeeded' });
  });

  it('answer 404 for an unknown job', async () => {
    const [worker] = workers.all;
    if (worker === undefined) throw new Error('there are three workers');
    expect((await request(worker, '/jobs/price-tock')).status).toBe(404);
    for (const action of ['trigger', 'pause', 'resume', 'step-down']) {
      expect((await request(worker, `/jobs/price-tock/${action}`, 'POST')).status).toBe(404);
    }
  });

  it('step down, pause and resume a job, for a request to any of them', async () => {
    const first = leaderOf('heartbeat');
    const [follower] = followersOf('heartbeat');
    if (follower === undefined) throw new Error('there are three workers');
    const by = (worker: WorkerProcess): unknown => expect.stringContaining(`${worker.node}-`);
    const down = await request(follower, '/jobs/heartbeat/step-down', 'POST');
    expect(down).toEqual({ status: 200, body: { steppedDown: true, by: by(first) } });
    await workers.until('another leads', () => workers.leadersOf('heartbeat').some((worker) => worker !== first));
    const second = leaderOf('heartbeat');
    expect(await request(first, '/jobs/heartbeat/pause', 'POST')).toEqual({ status: 200, body: { by: by(second) } });
    for (const worker of workers.all) {
      await requestUntil<JobStatus>(worker, '/jobs/heartbeat', ({ body }) => body.role === 'paused');
    }
    const resumed = await request<{ by: string }>(first, '/jobs/heartbeat/resume', 'POST');
    expect(resumed).toMatchObject({ status: 200, body: { by: expect.any(String) } });
    await workers.until('one leads', () => workers.leadersOf('heartbeat').length === 1);
  });

  it('refuse an import of prices with 409 while another replica imports them', async () => {
    await whileHeldElsewhere('price-import', async () => {
      for (const worker of workers.all) {
        expect(await request(worker, '/prices/import', 'POST')).toMatchObject({
          status: 409,
          body: { message: expect.stringContaining('held by another holder') },
        });
      }
    });
  });

  it('import prices one after the other, under growing tokens', async () => {
    const tokens: number[] = [];
    for (const worker of workers.all) {
      const { status, body } = await request<ImportedPrices>(worker, '/prices/import', 'POST');
      expect([status, body.prices]).toEqual([200, 365]);
      tokens.push(body.fencingToken);
    }
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(tokens).toEqual(tokens.toSorted((one, other) => one - other));
  });

  it('refuse requests of another origin', async () => {
    const [worker] = workers.all;
    if (worker === undefined) throw new Error('there are three workers');
    const foreign: Record<string, string>[] = [
      { origin: 'http://elsewhere.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const response = await fetch(`${worker.url}/jobs/daily-report/pause`, { method: 'POST', headers });
      expect(response.status).toBe(403);
    }
    const { body } = await request<JobStatus>(worker, '/jobs/daily-report');
    expect(body.role).not.toBe('paused');
  });

  it('stream events to subscribers', async () => {
    const leader = leaderOf('price-tick');
    const renewal = await nextTold(leader, 'leaseRenewed', 'price-tick');
    expect(renewal).toMatchObject({ fencingToken: expect.any(Number), roundTripMs: expect.any(Number) });
    const run = await nextTold(leader, 'runStarted', 'price-tick');
    expect(run).toMatchObject({ cause: 'schedule', scheduledAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('have metrics: one of them leads, and it runs the job', async () => {
    const leader = leaderOf('price-tick');
    const counted = ({ body }: Answer<string>): boolean =>
      /^singleton_job_runs_total\{[^}]*job_name="price-tick"[^}]*\} [1-9]/m.test(body);
    const { body } = await requestUntil<string>(leader, '/metrics', counted);
    const leads = /^singleton_job_is_leader\{[^}]*job_name="price-tick"[^}]*\} (\d)/m;
    const others = await Promise.all(followersOf('price-tick').map((worker) => request<string>(worker, '/metrics')));
    expect([body, ...others.map((other) => other.body)].map((text) => leads.exec(text)?.[1])).toEqual(['1', '0', '0']);
  });

  it('are not ready during a long outage of Redis, but alive', async () => {
    const [worker] = workers.all;
    if (worker === undefined) throw new Error('there are three workers');
    expect(await request(worker, '/health/ready')).toMatchObject({ status: 200 });
    await redis().down();
    const { body } = await requestUntil(worker, '/health/ready', ({ status }) => status === 503);
    expect(body).toMatchObject({ status: 'error', error: { jobs: { status: 'down' } } });
    expect(await request(worker, '/health/live')).toMatchObject({ status: 200 });
    // it is not known whether the lock is held
    expect(await request(worker, '/prices/import', 'POST')).toMatchObject({ status: 503 });
    await redis().up();
    await requestUntil(worker, '/health/ready', ({ status }) => status === 200);
  });

  it('listen on the loopback address only', async () => {
    for (const { url } of workers.all) {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    }
  });

  it('end by themselves, also with open connections', async () => {
    await Promise.all(workers.all.map((worker) => request(worker, '/jobs')));
    const streams = await Promise.all(workers.all.map((worker) => listen(worker)));
    // ends the stream without an unhandled error
    for (const stream of streams) stream.on('error', () => undefined).resume();
    expect(await workers.stop()).toEqual(workers.all.map(() => ({ code: 0, signal: null })));
  });
});

describe('a worker whose port is taken', () => {
  it('logs that without a stack, and exits with 1', async () => {
    const first = new WorkerProcess('a', {
      SINGLETON_JOB_CONNECTION: redis().url,
      SINGLETON_JOB_PROJECT_NAME: 'taken',
    });
    await using workers = Workers.of(first);
    await workers.until('it is ready', () => first.isReady, { withinMs: 60_000 });
    const second = new WorkerProcess('b', {
      SINGLETON_JOB_CONNECTION: redis().url,
      SINGLETON_JOB_PROJECT_NAME: 'taken',
      PORT: new URL(first.url).port,
    });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    const printed = second.lines.map(({ text }) => text).join('\n');
    expect(printed).toContain('set PORT to another');
    expect(printed).not.toMatch(/^\s+at /m);
  });
});
