/**
 * What follows from what a replica has seen and the time: pure functions, each one rule. `Election` has the order of
 * the rules.
 */
import { type Instant } from '../base/time/clock.js';
import { type Holder, leaseOf, replicaOf } from '../store/lease-id.js';
import {
  type JobRecord,
  KEPT_VERSIONS,
  type LeaderFields,
  type ObservedRecord,
  type Pause,
  type Reply,
  type RunRecord,
} from './record.js';
import { type StoreView } from './store-view.js';

/** What was seen of the store. */
export type ObservedStore = Pick<
  StoreView,
  'replicaId' | 'incarnation' | 'observedAt' | 'hasChanged' | 'maxTtlMs' | 'leases'
>;

/** What a term of this replica knows, which the record may lack. */
export interface TermFields {
  readonly fencingToken: number;
  /** The leader's fields as the record should have them. */
  readonly fields: LeaderFields;
}

/** What a replica knows of a term of its own, beside the record. */
export interface TermFacts extends TermFields {
  readonly holder: Holder;
  /** Fields that become those of the term when the record shows them. */
  readonly claimed?: LeaderFields;
  /**
   * In a new incarnation, until the record has been written again: the deadline from before, and the record as observed
   * before.
   */
  readonly reclaim?: { readonly by: Instant; readonly before: ObservedRecord } | undefined;
}

/** Whether the holder has written the record in the present incarnation. */
export function isCurrent(value: JobRecord | undefined, { incarnation }: Pick<ObservedStore, 'incarnation'>): boolean {
  return value?.incarnation === incarnation.id;
}

/**
 * Whether a pause or a command in the record stays there: its holder has written the record in this incarnation, or
 * will build on it when it writes the record again. See {@link recordOfTerm}.
 */
export function isSettled(value: JobRecord, store: Pick<ObservedStore, 'incarnation'>): boolean {
  return isCurrent(value, store) || value.commandedIn === store.incarnation.id;
}

/** The pause in a record, until it is over by the clock of the store. */
export function pauseOf({ pause }: JobRecord, storeNow: number): Pause | undefined {
  return pause?.until !== undefined && storeNow >= pause.until ? undefined : pause;
}

/**
 * Whether nothing that its holder wrote later can be missing. When an earlier server takes over again, it may lack what
 * was written elsewhere meanwhile. So a record there may be old until its holder has written it again.
 */
function isNewest({ value, isUnchanged }: ObservedRecord, store: ObservedStore): boolean {
  if (!isCurrent(value, store)) return false;
  return !store.hasChanged || (isUnchanged !== true && value?.commandedIn !== store.incarnation.id);
}

/**
 * Whether a living leader holds the record, by which this replica has no term. An orphan seems so to the other
 * replicas: it names a lease of this one, after a lost answer, a late request or an old snapshot.
 */
export function ownership({ value }: ObservedRecord, store: ObservedStore): 'free' | 'held' | 'orphan' {
  if (value?.holder === undefined || !isCurrent(value, store)) return 'free';
  const lease = leaseOf(value.holder);
  if (!store.leases.has(lease)) return 'free';
  return replicaOf(lease) === store.replicaId ? 'orphan' : 'held';
}

/**
 * Until then, by the monotonic clock, a leader that this replica cannot see may still lead: the leases of before end
 * one TTL after `since`. -Infinity: there is no such leader.
 *
 * A replica that has known another incarnation counts from when it met this one, because a server of before may come
 * back. A new process counts from `since`, by the clock of the store, or from when it met it, whichever ends sooner.
 */
export function graceEndsAt(
  record: ObservedRecord,
  store: ObservedStore,
  { now, storeNow, ttlMs }: { readonly now: number; readonly storeNow: number; readonly ttlMs: number },
): number {
  const { incarnation, hasChanged, observedAt, maxTtlMs } = store;
  // its lease was granted here, so its absence is certain
  if (isNewest(record, store)) return -Infinity;
  const longest = Math.max(ttlMs, maxTtlMs);
  if (hasChanged) return observedAt.now + longest;
  if (incarnation.isFirst && record.value?.holder === undefined) return -Infinity;
  return Math.min(observedAt.now + longest, now + incarnation.since + longest - storeNow);
}

/** A replica to which a leader gave its job has so much time to take it before the others try. */
export const HANDOVER_WINDOW_MS = 500;

/** The replica to which the last leader has just given the job. */
export function handedTo({ handover }: JobRecord, storeNow: number): string | undefined {
  if (handover === undefined || storeNow < handover.at || storeNow >= handover.at + HANDOVER_WINDOW_MS)
    return undefined;
  return handover.to;
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
export function claimsLostUntil(record: ObservedRecord, store: ObservedStore, storeNow: number): number {
  const { storeTime } = store.observedAt;
  if (record.value?.fencingToken === undefined) return Math.max(storeNow, storeTime);
  return isNewest(record, store) ? 0 : storeTime;
}

/**
 * What earlier leaders leave: the record, or the fields of the last term of this replica, which the record may lack, if
 * no later term has been there.
 */
export function leftBehind(
  value: JobRecord,
  { fields, fencingToken }: TermFields = { fields: {}, fencingToken: -1 },
): LeaderFields {
  const isMine = fencingToken >= (value.fencingToken ?? 0);
  const lastScheduledAt = Math.max(value.lastScheduledAt ?? -Infinity, fields.lastScheduledAt ?? -Infinity);
  // a claim without an answer may be there, with an earlier time if the clock of the store was set back
  const aheadBy = (field: 'occurrence' | 'startedAt'): number =>
    (fields.run?.[field] ?? -1) - (value.run?.[field] ?? -1);
  const run = isMine && (aheadBy('occurrence') || aheadBy('startedAt')) >= 0 ? fields.run : value.run;
  // the newest last: an earlier leader remembers older ones
  const versions = [...new Set([...(fields.versions ?? []), ...(value.versions ?? [])])].slice(-KEPT_VERSIONS);
  return {
    ...(lastScheduledAt > -Infinity && { lastScheduledAt }),
    ...(run !== undefined && { run }),
    ...(versions.length > 0 && { versions }),
  };
}

/** The last run of a leader that is gone gets an end, so that it is reported once. Undefined: it has one. */
export function interruptedRun(run: RunRecord | undefined, storeNow: number): RunRecord | undefined {
  if (run === undefined || run.endedAt !== undefined) return undefined;
  return { ...run, endedAt: Math.max(run.startedAt, storeNow), outcome: 'interrupted' };
}

/** What a leader does about its term when it sees the record. */
export type TermStep = 'serve' | 'reclaim' | 'lost';

/** Another holder, a deleted or an unreadable record ends a term. In a new incarnation the record is written again. */
export function termStep(term: TermFacts, record: ObservedRecord, store: ObservedStore): TermStep {
  const { value } = record;
  if (value?.holder === term.holder && isCurrent(value, store)) return 'serve';
  if (term.reclaim === undefined) return 'lost';
  const isTaken = ownership(record, store) === 'held';
  const isLater = (value?.fencingToken ?? 0) > term.fencingToken;
  return isTaken || isLater || record.isUnreadable === true ? 'lost' : 'reclaim';
}

/**
 * The record of a term with its own fields and the reply to a command. They are written on the newer of what is there
 * and what was seen before a new incarnation, so that an old snapshot brings no old pause back; but on what is there if
 * it was commanded in this incarnation.
 */
export function recordOfTerm(
  record: ObservedRecord,
  term: TermFacts,
  reply: Reply | undefined,
  incarnation: string,
): JobRecord {
  const { holder, fencingToken, fields, claimed, reclaim } = term;
  const { revision = 0, value: before } = reclaim?.before ?? {};
  const isBeforeNewer = revision > record.revision && record.value?.commandedIn !== incarnation;
  const existing = isBeforeNewer ? before : record.value;
  const leader = { holder, fencingToken, incarnation, commandedIn: undefined };
  const value: JobRecord = { ...existing, ...fields, ...claimed, ...reply?.fields, ...leader };
  if (reply === undefined || value.command?.id !== reply.id) return withTriggeredRun(value, existing?.run);
  const { outcome, fields: { run } = {} } = reply;
  return { ...value, command: { ...value.command, outcome, run } };
}

/** `before`: the run that the record shows. If that was triggered and another one follows, its command keeps it. */
function withTriggeredRun(value: JobRecord, before: RunRecord | undefined): JobRecord {
  const { command, run } = value;
  if (command?.run === undefined || command.run.startedAt !== before?.startedAt) return value;
  return before.startedAt === run?.startedAt ? value : { ...value, command: { ...command, run: before } };
}

/** The record that a term leaves behind, or an orphan. */
export function recordWithoutHolder(value: JobRecord, fields: LeaderFields, incarnation: string): JobRecord {
  return { ...value, ...fields, incarnation, holder: undefined };
}
