import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type WorkerEvent, WorkerProcess } from '../../tools/replicas/worker-process.js';
import { HEARTBEAT_INTERVAL_MS, JOBS, QUICK, Workers } from '../../tools/replicas/workers.js';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { SERVERS } from '../../tools/servers/servers.js';
import { oneForAll } from '../support/use-redis.js';

/** What a busy machine may add to the promise. */
const MARGIN_MS = 1_000;

describe.each([
  { name: 'Redis', start: SERVERS.redis },
  { name: 'MariaDB', start: SERVERS.mysql },
])('A pause of all jobs on $name', ({ start }) => {
  let workers: Workers;
  // before their server ends: Jest calls these in the order of definition
  afterAll(() => workers.kill());
  const server = oneForAll<OwnServer>(start);
  beforeAll(async () => {
    workers = await Workers.start(server().url, { PRICE_TICK_SLOW_EVERY: '0' });
  });

  const post = async (path: string): Promise<number> => {
    const [any] = workers.running;
    return (await fetch(`${any?.url}/jobs/${path}`, { method: 'POST' })).status;
  };
  const isLed = () => JOBS.every((job) => workers.leadersOf(job).length === 1);
  const isFree = () => JOBS.every((job) => workers.leadersOf(job).length === 0);
  const since = (atMs: number, event: WorkerEvent['event']) =>
    workers.events.filter((one) => one.event === event && one.atMs > atMs);

  it('ends every run within a heartbeat, outlives a restart, keeps a new process out, and ends by a resume', async () => {
    const pausedAtMs = Date.now();
    expect(await post('pause?reason=migration')).toBe(204);
    const seenByMs = Date.now() + HEARTBEAT_INTERVAL_MS + MARGIN_MS;
    await workers.until('no job is led', isFree);
    const releasedAtMs = Date.now();
    const variables = { SINGLETON_JOB_CONNECTION: server().url, SINGLETON_JOB_PROJECT_NAME: workers.project };
    const late = await workers.add(new WorkerProcess('d', { ...QUICK, ...variables }));
    const isPaused = ({ text }: { readonly text: string }) => text.includes('paused (all): migration');
    await workers.until('the new one says so', () => late.lines.some(isPaused));
    await server().restart();
    await delay(3_000);
    expect(since(Math.min(seenByMs, releasedAtMs), 'runStarted')).toEqual([]);
    expect(since(pausedAtMs, 'runCancelled')).toEqual([]);
    expect(isFree()).toBe(true);
    const resumedAtMs = Date.now();
    expect(await post('resume')).toBe(204);
    await workers.until('each job is led', isLed);
    await workers.untilJobsGoOn(resumedAtMs);
  });

  it('ends by itself at its time, and no job is led before', async () => {
    const pausedAtMs = Date.now();
    expect(await post('pause?until=5s')).toBe(204);
    await workers.until('no job is led', isFree);
    await workers.until('each job is led', isLed);
    const [first] = since(pausedAtMs, 'leadershipGained');
    expect((first?.atMs ?? 0) - pausedAtMs).toBeGreaterThan(4_900);
    const isEnd = ({ payload }: WorkerEvent) =>
      payload?.reason === 'expired' && JOBS.some((job) => job === payload.job);
    await workers.until(
      'each replica tells of its end',
      () => since(pausedAtMs, 'jobResumed').filter(isEnd).length === workers.all.length * JOBS.length,
    );
  });
});
