import { describe, expect, it } from '@jest/globals';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { HEARTBEAT_INTERVAL_MS, type InProcessReplica, LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { PromotedReplica } from './support/promoted-replica.js';
import { FaultRun } from './support/fault-run.js';

/** So long that a leader keeps its lease on a busy machine. */
const LONG_EXPIRY_MS = 10_000;
/** `min-replicas-max-lag` is in seconds, and Redis checks its replicas once a second. */
const MAX_LAG_S = 1;
const REFUSED_MS = (MAX_LAG_S + 2) * 1_000;

/** A fault run whose first replica stays with the deposed primary, while the second one is with the promoted one. */
async function splitWorld(lockExpiry: number, prepare: (faultRun: FaultRun) => unknown = () => undefined) {
  const faultRun = await FaultRun.start({}, { options: { lockExpiry } });
  const { admin, pair } = faultRun;
  const successor = await PromotedReplica.start(faultRun);
  await prepare(faultRun);
  await pair.goesOn();
  const splitMs = performance.now();
  await successor.promote({ away: faultRun.proxies[0] });
  const lead = (): boolean => pair.follower.leads.size === pair.jobNames.length;
  // the leader on the other side may lead for so long
  await pair.until('the other side has a leader', lead, { withinMs: lockExpiry + 1_000 + SLACK_MS });
  const dispose = async (): Promise<void> => {
    await faultRun[Symbol.asyncDispose]();
    await successor[Symbol.asyncDispose]();
  };
  return { admin, pair, successor, splitMs, [Symbol.asyncDispose]: dispose };
}

const tokensOf = ({ observer }: InProcessReplica, job: string): number[] =>
  observer
    .of('leadershipGained')
    .filter((gained) => gained.job === job)
    .map(({ fencingToken }) => fencingToken);

/** The time of the last such event. */
const lastOf = ({ observer }: InProcessReplica, event: 'leadershipGained' | 'leadershipLost', job: string): number =>
  observer.events.findLast((one) => one.event === event && one.payload.job === job)?.atMs ?? NaN;

describe('a deposed primary that still serves one of the replicas', () => {
  it.concurrent('has its own leader until it is demoted, and each side keeps every promise', async () => {
    await using split = await splitWorld(LONG_EXPIRY_MS);
    const { pair, successor, splitMs } = split;
    const { leader, follower } = pair;
    const bothMs = performance.now();
    await pair.until('a lease has lived and died', () => performance.now() > bothMs + LONG_EXPIRY_MS);
    for (const replica of pair.replicas) {
      expect(replica.leads.size).toBe(pair.jobNames.length);
      expect(replica.observer.of('leadershipLost')).toEqual([]);
      expect(pair.violations({ of: replica, sinceMs: splitMs })).toEqual([]);
    }
    for (const job of pair.jobNames) {
      expect(Math.min(...tokensOf(follower, job))).toBeGreaterThan(Math.max(...tokensOf(leader, job)));
    }
    const twice = pair.violations({ sinceMs: bothMs }).filter((line) => line.startsWith('started-twice'));
    expect(twice.length).toBeGreaterThan(0);
    // one side reports the occurrences that the other started while it had no leader
    const reported = (at: number): boolean => follower.reports().some(({ fromMs, toMs }) => fromMs < at && at <= toMs);
    const startedHere = pair.runs.filter(({ node, job }) => node === leader.node && job === 'report');
    expect(startedHere.filter(({ scheduledAtMs }) => reported(scheduledAtMs))).not.toEqual([]);

    await successor.demoteTheOther();
    await pair.until('the deposed leader knows', () => leader.leads.size === 0);
    const knownMs = performance.now();
    await pair.goesOn();
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations({ sinceMs: knownMs })).toEqual([]);
  });

  it.concurrent('gives the largest token to the term that began last, on either side', async () => {
    await using split = await splitWorld(LONG_EXPIRY_MS);
    const { admin, pair, successor } = split;
    const { leader, follower } = pair;
    const [job = ''] = pair.jobNames;
    const [rightful = Infinity] = tokensOf(follower, job);
    await admin.del(pair.record(job));
    await pair.until('the deposed side has another term', () => tokensOf(leader, job).length > 1);
    const later = Math.max(...tokensOf(leader, job));
    expect(later).toBeGreaterThan(rightful);

    await successor.demoteTheOther();
    await pair.until('the deposed leader knows', () => leader.leads.size === 0);
    await pair.goesOn();
    expect(tokensOf(follower, job)).toEqual([rightful]);
    await follower.pool.stop();
    await pair.until('the other leads', () => leader.leads.has(job));
    expect(Math.max(...tokensOf(leader, job))).toBeGreaterThan(later);
  });

  it.concurrent('refuses writes with min-replicas-to-write, so its terms end at their deadlines', async () => {
    await using split = await splitWorld(LOCK_EXPIRY_MS, async ({ admin }) => {
      await admin.config('SET', 'min-replicas-max-lag', String(MAX_LAG_S));
      await admin.config('SET', 'min-replicas-to-write', '1');
    });
    const { pair, splitMs } = split;
    const { leader, follower } = pair;
    const deposedMs = splitMs + REFUSED_MS + LOCK_EXPIRY_MS + SLACK_MS;
    await pair.until('the deposed leader gives up', () => leader.leads.size === 0, {
      withinMs: deposedMs - performance.now(),
    });
    const aloneMs = performance.now();
    expect(new Set(leader.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['expired']));
    await pair.goesOn();
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations({ sinceMs: aloneMs })).toEqual([]);
    // the last heartbeat of the refused leader was not copied, so its lease is valid for longer than the copy lives
    const overlapMs = REFUSED_MS + HEARTBEAT_INTERVAL_MS + SLACK_MS;
    for (const job of pair.jobNames) {
      const bothMs = lastOf(leader, 'leadershipLost', job) - lastOf(follower, 'leadershipGained', job);
      expect(bothMs).toBeLessThan(overlapMs);
    }
  });
});
