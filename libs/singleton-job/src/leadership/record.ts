import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/text/describe-value.js';
import { type Holder, isHolder } from '../store/lease-id.js';
import { type StoredRecord } from '../store/store.js';

/** The last run of a job, by the clock of the store. */
export interface RunRecord {
  readonly startedAt: number;
  /** Absent: it has not ended, or its leader died. */
  readonly endedAt?: number;
  readonly outcome?: 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
  /** The message of what a failed run threw. */
  readonly error?: string;
  /** The replica that ran it. */
  readonly by: string;
  /** The cron occurrence that it was claimed for. Absent: it was triggered, or is of another kind. */
  readonly scheduledAt?: number;
  /** The newest cron occurrence whose run began or that was left out: this one, or another one after or before it. */
  readonly occurrence?: number;
  /** How many runs in a row before this one ended with a crash of their process. For `@WhileLeader`. */
  readonly crashes?: number;
}

/** A request of any replica that the leader carries out. */
export interface Command {
  readonly id: string;
  readonly action: 'trigger' | 'step-down';
  /** By the clock of the store. The leader ignores it from then on. */
  readonly until: number;
  /** The reply of the leader. */
  readonly outcome?: string;
  /** The triggered run. Its end is here once another run has followed: its caller may wait for that. */
  readonly run?: RunRecord | undefined;
}

/** A pause of a job on all replicas, by the clock of the store. */
export interface Pause {
  readonly at: number;
  /** It is over from then on. Absent: it lasts until it is ended. */
  readonly until?: number | undefined;
  /** In the words of the caller. */
  readonly reason?: string | undefined;
}

/** A record keeps so many versions, so that a replica of the last deploy, which leads again, does not run its own. */
export const KEPT_VERSIONS = 10;

/**
 * The record of a job or a lock. The leader writes `holder`, `fencingToken`, `incarnation`, `schedule`,
 * `lastScheduledAt`, `run`, `versions` and `handover`. Any replica writes `pause`, or a `command` over one that is
 * answered or over. Fields that this version does not know are kept.
 */
export interface JobRecord {
  /** Absent: nobody leads, and a replica may take the record. */
  readonly holder?: Holder | undefined;
  /** The token of the newest term. */
  readonly fencingToken?: number;
  /** The incarnation in which its holder has written it last. */
  readonly incarnation?: string;
  /** The schedule of its leader, in words. */
  readonly schedule?: string;
  /** The newest occurrence or slot that was claimed or reported. */
  readonly lastScheduledAt?: number;
  readonly run?: RunRecord | undefined;
  /** The versions of the job whose first run was claimed, the newest last. */
  readonly versions?: readonly string[] | undefined;
  readonly pause?: Pause | undefined;
  /** When a leader gave it last to another replica, to even out how many each leads. */
  readonly handover?: { readonly at: number; readonly to: string };
  readonly command?: Command;
  /**
   * The incarnation in which a pause or a command was written, while it is not certain that the holder has written in
   * it.
   */
  readonly commandedIn?: string | undefined;
}

/** The fields that a leader writes while it leads. */
export type LeaderFields = Pick<JobRecord, 'schedule' | 'lastScheduledAt' | 'run' | 'versions' | 'handover'>;

/** What a leader replies to a command. */
export interface Reply extends Command {
  readonly outcome: string;
  /** Written together with the outcome. */
  readonly fields?: LeaderFields;
  /** Called once: whether the record shows the reply. If not, the command is not carried out. */
  readonly settle?: (isShown: boolean) => void;
}

/** A record as a replica has seen it. Without a value: there is none, or it cannot be read. */
export interface ObservedRecord {
  readonly revision: number;
  readonly value: JobRecord | undefined;
  readonly isUnreadable?: true | undefined;
  /** It has not changed since this replica first saw it in this incarnation. */
  readonly isUnchanged?: boolean;
}

/** The name of the record that pauses all jobs. No replica holds it. */
export const PAUSE_OF_ALL = 'all:pause';

/** What stands for a job where all are meant. No job has this name. */
export const ALL_JOBS = 'all jobs';

/** The name of the record of a job. */
export function jobRecord(job: string): string {
  return `${job}:job`;
}

/** The name of the record of a lock of `LockService`. */
export function lockRecord(key: string): string {
  return `${key}:lock`;
}

/** The job of a record. Undefined: it is another one. */
export function jobOf(name: string): string | undefined {
  return name.endsWith(':job') ? name.slice(0, -':job'.length) : undefined;
}

/** The name of a job or a lock in events: that of a lock begins with `lock/`. */
export function labelOf(name: string): string {
  if (name === PAUSE_OF_ALL) return ALL_JOBS;
  return jobOf(name) ?? `lock/${name.slice(0, -':lock'.length)}`;
}

/** What a list is while it is empty: one for all, as most jobs need none. */
export const NONE: readonly never[] = Object.freeze([]);

export const ABSENT: ObservedRecord = Object.freeze({ revision: 0, value: undefined });
const UNREADABLE: ObservedRecord = Object.freeze({ revision: 0, value: undefined, isUnreadable: true });

/**
 * Parses the answer of a store. A revision of another program may be one that cannot grow. `incarnation`: the present
 * one, whose text is kept once for all records that name it.
 */
export function observedRecord(stored: StoredRecord | 'unreadable' | undefined, incarnation?: string): ObservedRecord {
  if (stored === undefined) return ABSENT;
  if (stored === 'unreadable' || !Number.isSafeInteger(stored.revision)) return UNREADABLE;
  try {
    const value = JSON.parse(stored.value) as JobRecord;
    if (!isJobRecord(value)) return UNREADABLE;
    if (incarnation !== undefined && value.incarnation === incarnation) Object.assign(value, { incarnation });
    return { revision: stored.revision, value };
  } catch {
    return UNREADABLE;
  }
}

type Check = (value: unknown) => boolean;

/** `Date` can show it in each time zone, with the occurrences around it: its own limit is 8.64e15. */
export const MAX_TIME = 8e15;

const MAX_AHEAD_MS = 24 * 3_600_000;

/** Whether a time is so far ahead of the clock of the store that only a clock of it that was wrong has shown it. */
export function isFarAhead(time: number, storeNow: number): boolean {
  return time - storeNow > MAX_AHEAD_MS;
}

const isText: Check = (value) => typeof value === 'string';
const isTime: Check = (value) => Number.isSafeInteger(value) && Math.abs(Number(value)) <= MAX_TIME;

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function fields<T>(checks: Record<keyof T, Check>): Check {
  const all = Object.entries<Check>(checks);
  return (value) => isObject(value) && all.every(([key, check]) => check(value[key]));
}

const isRun = fields<RunRecord>({
  startedAt: isTime,
  endedAt: optional(isTime),
  outcome: optional(isText),
  error: optional(isText),
  by: isText,
  scheduledAt: optional(isTime),
  occurrence: optional(isTime),
  crashes: optional(Number.isSafeInteger),
});

/**
 * What replicas can go by: another program may have written the record. Other values of a text are of a later version.
 */
const isJobRecord = fields<JobRecord>({
  holder: optional(isHolder),
  fencingToken: optional(Number.isSafeInteger),
  incarnation: optional(isText),
  schedule: optional(isText),
  lastScheduledAt: optional(isTime),
  run: optional(isRun),
  versions: optional((value) => Array.isArray(value) && value.every(isText)),
  pause: optional(fields<Pause>({ at: isTime, until: optional(isTime), reason: optional(isText) })),
  handover: optional(fields<NonNullable<JobRecord['handover']>>({ at: isTime, to: isText })),
  command: optional(
    fields<Command>({ id: isText, action: isText, until: isTime, outcome: optional(isText), run: optional(isRun) }),
  ),
  commandedIn: optional(isText),
});

/** Whether the record has these fields. */
export function contains(value: JobRecord | undefined, fields: LeaderFields): boolean {
  return Object.entries(fields).every(([key, field]) => isDeepStrictEqual(value?.[key as keyof JobRecord], field));
}
