import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type Redis } from 'ioredis';
import { FaultRun } from './support/fault-run.js';

/** Leases are seconds longer than each hiccup, also on a busy machine. So a replica that leads at once got the message of a release. */
const LASTING = { options: { lockExpiry: 10_000 } };

interface Hiccup {
  readonly name: string;
  readonly happen: (faultRun: FaultRun) => unknown;
  /** Whether it may be logged, as a short outage. */
  readonly mayBeLogged?: boolean;
}

const HICCUPS: readonly Hiccup[] = [
  { name: 'closed the connections for commands', happen: ({ admin }) => end(admin, 'normal'), mayBeLogged: true },
  { name: 'closed the subscriptions', happen: ({ admin }) => end(admin, 'pubsub') },
  {
    name: 'was cut off by a reset',
    happen: (faultRun) => faultRun.everywhere('reset'),
    mayBeLogged: true,
  },
  { name: 'paused all clients for a moment', happen: ({ admin }) => admin.client('PAUSE', 700, 'ALL') },
  { name: 'paused all writers for a moment', happen: ({ admin }) => admin.client('PAUSE', 700, 'WRITE') },
  {
    name: 'was busy for a moment',
    happen: async ({ admin }) => {
      await admin.call('DEBUG', 'SLEEP', '0.7');
    },
  },
  {
    name: 'lost the network for a moment',
    happen: async (faultRun) => {
      await faultRun.everywhere('freeze');
      await delay(700);
      await faultRun.everywhere('thaw');
    },
  },
  {
    name: 'answers slowly',
    happen: async ({ proxies, pair }) => {
      for (const proxy of proxies) proxy.answerDelayMs = 400;
      await pair.goesOn();
      await pair.goesOn();
    },
  },
];

describe('a Redis that', () => {
  it.concurrent.each(HICCUPS)(
    '$name changes no leader and aborts no run, and messages arrive as before',
    async ({ happen, mayBeLogged = false }) => {
      await using faultRun = await FaultRun.start({ args: ['--enable-debug-command', 'yes'] }, LASTING);
      const { pair, proxies } = faultRun;
      const { leader, follower } = pair;
      await happen(faultRun);
      await pair.goesOn();
      await pair.until('both get messages', () => pair.replicas.every(({ isListening }) => isListening));
      for (const proxy of proxies) proxy.answerDelayMs = 0;
      await pair.goesOn();

      expect(leader.leads.size).toBe(pair.jobNames.length);
      expect(leader.observer.of('runCancelled')).toEqual([]);
      expect(follower.observer.of('leadershipGained')).toEqual([]);
      for (const { warnings } of pair.replicas) expect(warnings.length).toBeLessThanOrEqual(mayBeLogged ? 1 : 0);

      await leader.pool.stop();
      await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length, { withinMs: 7_000 });
      expect(pair.violations()).toEqual([]);
    },
  );
});

/** Ends the connections of one kind that both replicas have. */
async function end(admin: Redis, type: 'normal' | 'pubsub'): Promise<void> {
  expect(await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes')).toBe(2);
}
