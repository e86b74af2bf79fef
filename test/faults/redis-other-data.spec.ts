import { describe, expect, it } from '@jest/globals';
import { type RedisServerOptions } from '../../tools/replicas/redis/index.js';
import { FaultRun } from './support/fault-run.js';
import { PromotedReplica } from './support/promoted-replica.js';

/** Leases are seconds longer than each change takes, also on a busy machine. */
const LOCK_EXPIRY_MS = 10_000;
/** So long that a term has written its records again. */
const LIVE_MS = 11_000;

interface Change {
  readonly name: string;
  readonly redis?: RedisServerOptions;
  readonly prepare?: (faultRun: FaultRun) => unknown;
  readonly happen: (faultRun: FaultRun) => Promise<unknown>;
}

async function restart({ server }: FaultRun): Promise<void> {
  await server.kill({ keepSnapshot: true });
  await server.up();
}

async function snapshot({ admin, pair }: FaultRun): Promise<void> {
  await admin.save();
  const savedMs = performance.now();
  while (performance.now() < savedMs + LIVE_MS) await pair.goesOn();
}

async function changeLeader({ pair, proxies: [first] }: FaultRun): Promise<void> {
  first.freeze();
  await pair.until('the follower leads', () => pair.follower.leads.size === pair.jobNames.length);
  first.thaw();
  await pair.until('the first one is back', () => pair.leader.observer.of('storeRecovered').length > 0);
}

const CHANGES: readonly Change[] = [
  { name: 'is flushed', happen: ({ admin }) => admin.flushall() },
  { name: 'loses its leases', happen: ({ admin, pair }) => admin.del(pair.leases) },
  { name: 'restarts with all its data', redis: { appendOnly: true }, happen: restart },
  { name: 'restarts without its data', happen: restart },
  { name: 'restarts from an old snapshot', prepare: snapshot, happen: restart },
  {
    name: 'restarts from a snapshot that names an earlier leader',
    prepare: async (faultRun) => {
      await faultRun.admin.save();
      await changeLeader(faultRun);
    },
    happen: restart,
  },
];

async function goesOnInItsTerm({ pair }: FaultRun, change: () => Promise<unknown>): Promise<void> {
  const changedMs = performance.now();
  await change();
  await pair.goesOn({ withinMs: LOCK_EXPIRY_MS });
  await pair.goesOn();
  const since = pair.replicas
    .flatMap(({ observer }) => observer.events)
    .filter(({ event, atMs }) => atMs > changedMs && /^leadership|^run(Cancelled|Interrupted)/.test(event));
  expect(since).toEqual([]);
  expect(pair.violations()).toEqual([]);
}

describe('a leader goes on in its term, and no run is aborted, when Redis', () => {
  it.concurrent.each(CHANGES)('$name', async ({ redis, prepare, happen }) => {
    await using faultRun = await FaultRun.start(redis, { options: { lockExpiry: LOCK_EXPIRY_MS } });
    await prepare?.(faultRun);
    await goesOnInItsTerm(faultRun, () => happen(faultRun));
  });

  it.concurrent.each([
    { name: 'fails over to its copy', lagMs: 0 },
    { name: 'fails over to a copy that lacks the last seconds', lagMs: LIVE_MS },
  ])('$name', async ({ lagMs }) => {
    await using faultRun = await FaultRun.start({}, { options: { lockExpiry: LOCK_EXPIRY_MS } });
    const { pair } = faultRun;
    await using successor = await PromotedReplica.start(faultRun);
    successor.cutOff();
    const cutOffMs = performance.now();
    while (performance.now() < cutOffMs + lagMs) await pair.goesOn();
    await goesOnInItsTerm(faultRun, () => successor.promote());
  });
});
