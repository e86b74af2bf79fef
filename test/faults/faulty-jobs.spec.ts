import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { JobProcess } from './support/job-process.js';
import {
  BLOCKED_MS,
  type JobProcessMessage,
  type JobFault,
  LOCK_EXPIRY_MS,
  SHUTDOWN_TIMEOUT_MS,
  THROWN,
} from './support/job-faults.js';
import { useRedisServer } from '../../tools/replicas/redis/use-redis.js';

const firstOf = (process: JobProcess, event: 'leadershipGained' | 'runStarted') => process.of(event, 'faulty')[0];

describe('A process', () => {
  const server = useRedisServer();
  let redis: Redis;

  beforeEach(async () => {
    redis = new Redis(server().url);
    await redis.flushall();
  });

  afterEach(() => {
    redis.disconnect();
  });

  const start = (node: string, fault: JobFault): JobProcess => new JobProcess(node, { fault, redisUrl: server().url });

  it('whose job blocks the event loop starts no late run, and another replica leads', async () => {
    await using a = start('a', 'blocks');
    await a.until(
      'it leads',
      () => a.of('runStarted', 'faulty').length > 0 && a.of('runStarted', 'harmless').length > 0,
    );
    await using b = start('b', 'blocks');
    await b.until('it follows', () => b.of('ready').length > 0);
    const tokens = a.of('leadershipGained').map(({ payload }) => payload?.fencingToken);
    a.provoke();
    const isLong = ({ payload }: JobProcessMessage): boolean => (payload?.blockedMs ?? 0) > BLOCKED_MS / 2;
    await a.until('it has noticed', () => a.of('eventLoopBlocked').some(isLong));
    const blocked = a.of('eventLoopBlocked').find(isLong);
    expect(blocked?.payload).toMatchObject({ jobs: expect.arrayContaining(['faulty']) as unknown });

    await b.until('it leads', () => b.of('runStarted', 'faulty').length > 2);
    const beganAtMs = (blocked?.atMs ?? NaN) - BLOCKED_MS;
    expect((firstOf(b, 'leadershipGained')?.atMs ?? NaN) - beganAtMs).toBeLessThan(LOCK_EXPIRY_MS + SLACK_MS);
    const late = a.of('runStarted').filter(({ atMs }) => atMs > beganAtMs + LOCK_EXPIRY_MS);
    expect(late.filter(({ payload }) => tokens.includes(payload?.fencingToken))).toEqual([]);
    const lost = () => a.of('leadershipLost').filter(({ atMs }) => atMs > beganAtMs);
    await a.until('it gives both jobs up', () => lost().length === 2);
    expect(a.lines.join('\n')).toMatch(/was blocked for \d+(\.\d+)? m?s, while these ran: .*faulty.*worker thread/);
    expect(await Promise.all([a.stop(), b.stop()])).toEqual([0, 0]);
  });

  it('whose job throws any value continues, and the log has one line for each', async () => {
    await using a = start('a', 'throws');
    await a.until('it has thrown everything', () => a.of('runFailed').length > 2 * THROWN.length);
    expect(await a.stop()).toBe(0);
    const failed = a.lines.filter((line) => line.includes('[faults:faulty] failed after'));
    expect(failed).toHaveLength(a.of('runFailed').length);
    expect(a.of('observerFailed')).toEqual([]);
    expect(a.of('runStarted', 'harmless').length).toBeGreaterThan(THROWN.length);
    expect(a.lines.join('\n')).not.toMatch(/Unhandled|Warning/);
  });

  it('whose observers always throw continues, with one line for each event', async () => {
    await using a = start('a', 'observers');
    await a.until('they failed often', () => a.of('runSucceeded').length > 50);
    expect(await a.stop()).toBe(0);
    const kinds = new Set(a.messages.map(({ event }) => event));
    const failed = a.lines.filter((line) => line.includes('an observer failed at'));
    expect(a.of('observerFailed').length).toBeGreaterThan(200);
    expect(failed.length).toBeLessThanOrEqual(kinds.size);
    expect(failed.length).toBeGreaterThan(0);
    expect(a.lines.join('\n')).not.toMatch(/Unhandled|MaxListeners/);
  });

  it('whose job never ends exits in time, and releases all other locks', async () => {
    await using a = start('a', 'never-ends');
    await a.until(
      'it runs',
      () => a.of('runStarted', 'faulty').length > 0 && a.of('runSucceeded', 'harmless').length > 0,
    );
    const askedAtMs = performance.now();
    expect(await a.stop()).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + SLACK_MS);
    const records = await redis.mget('{faults}:faulty:lock', '{faults}:harmless:lock');
    const [holder, ...others] = records.map((record) => /"holder":"(.*?)#/.exec(record ?? '')?.[1]);
    expect(others).toEqual([undefined]);
    expect(Number(await redis.zscore('{faults}:leases', holder ?? ''))).toBeGreaterThan(Date.now());
    expect(a.lines.join('\n')).toContain('a run ignored its abort and is still running');
  });

  it('whose job closes the application and waits for it exits in time', async () => {
    await using a = start('a', 'closes');
    await a.until('it runs', () => a.of('runStarted', 'faulty').length > 0);
    const askedAtMs = performance.now();
    expect(await a.ended).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + SLACK_MS);
    expect(a.of('runStarted', 'faulty')).toHaveLength(1);
  });
});
