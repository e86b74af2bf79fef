/**
 * What follows from what a replica has seen and the time: pure functions, each one rule. The order of the rules is in
 * README.md.
 */
import { leaseOf, replicaOf } from '../store/lease-id.js';
import { type Order } from './orders.js';
import { type JobRecord, KEPT_VERSIONS, type OwnFields, type RunFacts, type SeenRecord } from './record.js';
import { type OwnTerm, type Term } from './term.js';
import { type View } from './view.js';

/** What was seen of the store. */
export type SeenStore = Pick<View, 'replicaId' | 'incarnation' | 'metAt' | 'sawAnother' | 'longestLifeMs' | 'leases'>;

/** What a replica knows of a term of its own, beside the record. */
type TermFacts = Pick<OwnTerm, 'holder' | 'fencingToken' | 'own' | 'reclaim'>;

/** Whether the holder has written the record in the present incarnation. */
export function isOfNow(value: JobRecord | undefined, { incarnation }: Pick<SeenStore, 'incarnation'>): boolean {
  return value?.incarnation === incarnation.id;
}

/**
 * Whether a pause or a command in the record stays there: its holder has written the record in this incarnation, or
 * will build on it when it writes the record again. See {@link recordOfTerm}.
 */
export function isSettled(value: JobRecord, store: Pick<SeenStore, 'incarnation'>): boolean {
  return isOfNow(value, store) || value.steeredIn === store.incarnation.id;
}

/**
 * Whether nothing that its holder wrote later can be missing. When an earlier server takes over again, it may lack what
 * was written elsewhere meanwhile. So a record there may be old until its holder has written it again.
 */
function isNewest({ value, isUnchanged }: SeenRecord, store: SeenStore): boolean {
  if (!isOfNow(value, store)) return false;
  return !store.sawAnother || (isUnchanged !== true && value?.steeredIn !== store.incarnation.id);
}

/**
 * Whether a living leader holds the record, by which this replica has no term. A stray looks so to the other replicas:
 * it names a lease of this one, after a lost answer, a late request or an old snapshot.
 */
export function ownership({ value }: SeenRecord, store: SeenStore): 'free' | 'held' | 'stray' {
  if (value?.holder === undefined || !isOfNow(value, store)) return 'free';
  const lease = leaseOf(value.holder);
  if (!store.leases.has(lease)) return 'free';
  return replicaOf(lease) === store.replicaId ? 'stray' : 'held';
}

/**
 * Until then, by the monotonic clock, a leader that this replica cannot see may still lead: the leases of before end
 * one life after `since`. -Infinity: there is no such leader.
 *
 * A replica that has known another incarnation counts from when it met this one, because a server of before may come
 * back. A new process counts from `since`, by the clock of the store, or from when it met it, whichever ends sooner.
 */
export function graceEndsAt(
  record: SeenRecord,
  store: SeenStore,
  { now, storeNow, lifeMs }: { readonly now: number; readonly storeNow: number; readonly lifeMs: number },
): number {
  const { incarnation, sawAnother, metAt, longestLifeMs } = store;
  // its lease was granted here, so its absence is certain
  if (isNewest(record, store)) return -Infinity;
  const longest = Math.max(lifeMs, longestLifeMs);
  if (sawAnother) return metAt.now + longest;
  if (incarnation.isFirst && record.value?.holder === undefined) return -Infinity;
  return Math.min(metAt.now + longest, now + incarnation.since + longest - storeNow);
}

/** A replica to which a leader gave its job has so much time to take it before the others try. */
export const LEFT_TO_IT_MS = 500;

/** The replica to which the last leader has just given the job. */
export function givenTo({ moved }: JobRecord, storeNow: number): string | undefined {
  if (moved === undefined || storeNow < moved.at || storeNow >= moved.at + LEFT_TO_IT_MS) return undefined;
  return moved.to;
}

const MAX_SPREAD_MS = 50;

/** Over how long replicas spread what all of them would do at one time. */
export function spreadMs(replicas: number): number {
  return Math.min(2 * replicas, MAX_SPREAD_MS);
}

/**
 * How long a replica waits before it takes a free job, so that not all try at once and the least loaded tends to win.
 * `loads`: how many jobs each replica leads that is alive, also one that wants none. So the wait is short whatever
 * their number, and nothing if no other one is alive.
 */
export function takeDelayMs(replicaId: string, loads: ReadonlyMap<string, number>, random: () => number): number {
  if (loads.size <= 1) return 0;
  const load = (loads.get(replicaId) ?? 0) / Math.max(1, ...loads.values());
  return spreadMs(loads.size) * (random() + load);
}

/**
 * Occurrences up to then may have been claimed in data that are gone, so they do not run: the time of the take if there
 * is no record, and the moment at which this replica met the incarnation if the record is older. 0: no claim is lost.
 * The clock of this replica says nothing here: it may be wrong, and later leaders go by this.
 */
export function claimsLostUntil(record: SeenRecord, store: SeenStore, storeNow: number): number {
  const { storeTime } = store.metAt;
  if (record.value?.fencingToken === undefined) return Math.max(storeNow, storeTime);
  return isNewest(record, store) ? 0 : storeTime;
}

/**
 * What earlier leaders leave: the record, or the fields of the last term of this replica, which the record may lack, if
 * no later term has been there.
 */
export function leftBehind(
  value: JobRecord,
  { own, fencingToken }: Pick<Term, 'own' | 'fencingToken'> = { own: {}, fencingToken: -1 },
): OwnFields {
  const isMine = fencingToken >= (value.fencingToken ?? 0);
  const lastScheduledAt = Math.max(value.lastScheduledAt ?? -Infinity, own.lastScheduledAt ?? -Infinity);
  // a claim without an answer may be there, with an earlier time if the clock of the store was set back
  const aheadBy = (field: 'occurrence' | 'startedAt'): number => (own.run?.[field] ?? -1) - (value.run?.[field] ?? -1);
  const run = isMine && (aheadBy('occurrence') || aheadBy('startedAt')) >= 0 ? own.run : value.run;
  // the newest last: an earlier leader remembers older ones
  const versions = [...new Set([...(own.versions ?? []), ...(value.versions ?? [])])].slice(-KEPT_VERSIONS);
  return {
    ...(lastScheduledAt > -Infinity && { lastScheduledAt }),
    ...(run !== undefined && { run }),
    ...(versions.length > 0 && { versions }),
  };
}

/** The last run of a leader that is gone gets an end, so that it is reported once. Undefined: it has one. */
export function interruptedRun(run: RunFacts | undefined, storeNow: number): RunFacts | undefined {
  if (run === undefined || run.endedAt !== undefined) return undefined;
  return { ...run, endedAt: Math.max(run.startedAt, storeNow), outcome: 'interrupted' };
}

/** What a leader does about its term when it sees the record. */
export type TermStep = 'serve' | 'reclaim' | 'lost';

/** Another holder, a deleted or an unreadable record ends a term. In a new incarnation the record is written again. */
export function termStep(term: TermFacts, record: SeenRecord, store: SeenStore): TermStep {
  const { value } = record;
  if (value?.holder === term.holder && isOfNow(value, store)) return 'serve';
  if (term.reclaim === undefined) return 'lost';
  const isTaken = ownership(record, store) === 'held';
  const isLater = (value?.fencingToken ?? 0) > term.fencingToken;
  return isTaken || isLater || record.isUnreadable === true ? 'lost' : 'reclaim';
}

/**
 * The record of a term with its own fields and the outcome of a command. They are written on the newer of what is there
 * and what was seen before a new incarnation, so that an old snapshot brings no old pause back; but on what is there if
 * it was steered in this incarnation.
 */
export function recordOfTerm(
  record: SeenRecord,
  term: TermFacts,
  order: Order | undefined,
  incarnation: string,
): JobRecord {
  const { holder, fencingToken, own, reclaim } = term;
  const { revision = 0, value: before } = reclaim?.before ?? {};
  const isBeforeNewer = revision > record.revision && record.value?.steeredIn !== incarnation;
  const there = isBeforeNewer ? before : record.value;
  const leader = { holder, fencingToken, incarnation, steeredIn: undefined };
  const value: JobRecord = { ...there, ...own, ...order?.fields, ...leader };
  if (order === undefined || value.command?.id !== order.id) return value;
  return { ...value, command: { ...value.command, outcome: order.outcome } };
}

/** The record that a term leaves behind, or a stray one. */
export function recordWithoutHolder(value: JobRecord, fields: OwnFields, incarnation: string): JobRecord {
  return { ...value, ...fields, incarnation, holder: undefined };
}
