import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { type WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { startApplication } from '../support/nest-application.js';
import { useRedisServer } from '../support/use-redis.js';
import { LockService, SingletonJobModule } from 'nestjs-singleton-job';

const redis = useRedisServer();

const PROJECT_NAME = 'over-http';
/** No lease may be lost because the machine is busy. */
const LOCK_EXPIRY = '5s' as const;

async function post(
  { url }: WorkerProcess,
  path: string,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers });
  const body = await response.text();
  return { status: response.status, ...(JSON.parse(body === '' ? '{}' : body) as object) };
}

async function statusOf({ url }: WorkerProcess, path: string): Promise<number> {
  return (await fetch(`${url}${path}`)).status;
}

/** The stream of events from a worker, from now on. */
async function listen({ url }: WorkerProcess): Promise<IncomingMessage> {
  const [stream] = (await once(get(`${url}/events`), 'response')) as [IncomingMessage];
  return stream;
}

describe('over HTTP, workers', () => {
  let workers: Workers;
  let leader: WorkerProcess;
  let follower: WorkerProcess;

  beforeAll(async () => {
    workers = await Workers.start(redis().url, {
      SINGLETON_JOB_PROJECT_NAME: PROJECT_NAME,
      PRICE_TICK_SLOW_EVERY: '0',
      SINGLETON_JOB_LOCK_EXPIRY: LOCK_EXPIRY,
      SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: LOCK_EXPIRY,
      PRICE_IMPORT_TAKES: '100ms',
    });
    leader = workers.leaderOf('daily-report');
    const other = workers.all.find((worker) => worker !== leader);
    if (other === undefined) throw new Error('there are three workers');
    follower = other;
  });
  afterAll(() => workers.kill());

  it('trigger, pause, resume and step down a job of another one, and know no other job', async () => {
    const byLeader = { by: expect.stringContaining(`${leader.node}-`) };
    const job = '/jobs/daily-report';
    const succeeded = { status: 202, started: true, outcome: 'succeeded', ...byLeader };
    expect(await post(follower, `${job}/trigger?wait=1m`)).toMatchObject(succeeded);
    expect(workers.eventsOf('daily-report', 'runSucceeded')).toHaveLength(1);
    expect(await post(follower, `${job}/trigger?wait=soon`)).toMatchObject({ status: 400 });
    expect(await post(follower, `${job}/step-down`)).toEqual({ status: 200, steppedDown: true, ...byLeader });
    await workers.until('another leads', () => workers.leadersOf('daily-report').some((one) => one !== leader));
    expect(await post(follower, `${job}/pause`)).toEqual({ status: 204 });
    expect(await post(follower, `${job}/trigger`)).toMatchObject({ status: 409 });
    expect(await post(leader, `${job}/resume`)).toEqual({ status: 204 });
    expect(await statusOf(leader, '/jobs/price-tock')).toBe(404);
    for (const action of ['trigger', 'pause', 'resume', 'step-down'])
      expect(await post(leader, `/jobs/price-tock/${action}`)).toMatchObject({ status: 404 });
  });

  it('import prices, but not while another replica does, nor while Redis does not answer', async () => {
    expect(await post(leader, '/prices/import')).toMatchObject({ status: 200, prices: 365 });
    const options = { projectName: PROJECT_NAME, connection: redis().url, lockExpiry: LOCK_EXPIRY, enabled: false };
    {
      await using elsewhere = await startApplication({ imports: [SingletonJobModule.forRoot(options)] });
      await elsewhere.app.get(LockService).tryAcquire('price-import');
      const message = expect.stringContaining('held by another holder');
      expect(await post(leader, '/prices/import')).toMatchObject({ status: 409, message });
    }
    await redis().down();
    expect(await post(leader, '/prices/import')).toMatchObject({ status: 503 });
    await redis().up();
  });

  it.each<Record<string, string>>([{ origin: 'http://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }])(
    'refuse requests of another origin: %j',
    async (headers) => {
      expect(await post(leader, '/jobs/daily-report/pause', headers)).toMatchObject({ status: 403 });
    },
  );

  it('have metrics, health and the events of their jobs', async () => {
    expect(await (await fetch(`${leader.url}/metrics`)).text()).toMatch(
      /^singleton_job_is_leader\{.*"price-tick".*\} \d/m,
    );
    await workers.until('jobs go on', () => workers.leadersOf('price-tick').length === 1);
    expect([await statusOf(leader, '/health/ready'), await statusOf(leader, '/health/live')]).toEqual([200, 200]);
    const stream = await listen(workers.leaderOf('price-tick'));
    const received = new Map<string, unknown>();
    let event = '';
    for await (const line of createInterface({ input: stream })) {
      if (line.startsWith('event: ')) event = line.slice('event: '.length);
      if (line.startsWith('data: ')) received.set(event, JSON.parse(line.slice('data: '.length)));
      if (received.has('heartbeatAnswered') && received.has('runStarted')) break;
    }
    stream.destroy();
    expect(received.get('heartbeatAnswered')).toMatchObject({ roundTripMs: expect.any(Number) });
    expect(received.get('runStarted')).toMatchObject({ scheduledAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('listen on the loopback address only', async () => {
    for (const { url } of workers.all) {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    }
  });

  it('end by themselves, also with open connections', async () => {
    await Promise.all(workers.all.map((worker) => statusOf(worker, '/jobs')));
    const streams = await Promise.all(workers.all.map((worker) => listen(worker)));
    // ends the stream without an unhandled error
    for (const stream of streams) stream.on('error', () => undefined).resume();
    expect(await workers.stop()).toEqual(workers.all.map(() => ({ code: 0, signal: null })));
  });
});
