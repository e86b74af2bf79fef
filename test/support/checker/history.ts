/** What a witness still writes to. */
export type Open<T> = { -readonly [K in keyof T]: T[K] };

/** One run as an independent witness saw it, in one time that no replica's clock can change. */
export interface WitnessedRun {
  readonly job: string;
  readonly process: string;
  readonly fencingToken: number;
  /** Of a cron run the occurrence, of others the tick, in milliseconds since the epoch. */
  readonly scheduledAt: number;
  /** How far the wall clock of its process was ahead of the store's; left out where the witness cannot know. */
  readonly clockAheadMs?: number;
  /** By how much its process's own wall clock had passed `scheduledAt`. */
  readonly latenessMs?: number;
  readonly startedMs: number;
  /** When the method settled, or its process was killed; undefined while it goes on. */
  readonly endedMs?: number;
  /** When its signal fired; undefined if it did not. */
  readonly abortedMs?: number;
  /** Whether it is one that does not mind its signal. */
  readonly ignoresSignal?: boolean;
  /** Whether its process stood still for some of the time, and so could neither act nor hear its signal. */
  readonly stoodStill?: boolean;
  /** When its process went on again for the last time, and not from a sleep of its host; left out where nobody can say. */
  readonly wentOnMs?: number;
  /** Whether the store's lock was its process's at the start; left out where the witness cannot know. */
  readonly heldLock?: boolean;
}

/** Occurrences in (`from`, `to`] that a replica reported as dropped or missed. */
export interface WitnessedReport {
  readonly job: string;
  readonly process: string;
  readonly from: number;
  readonly to: number;
  /** The reason of the event. */
  readonly reason?: string;
  readonly atMs?: number;
}

/** Ticks of a fixed rate that were not started, up to `scheduledAt`. */
export interface WitnessedDrop {
  readonly job: string;
  readonly process: string;
  readonly scheduledAt: number;
  readonly count: number;
  readonly atMs: number;
}

/** A time in which a process believed that it led a job, by what it said itself. */
export interface WitnessedTerm {
  readonly job: string;
  readonly process: string;
  readonly fencingToken: number;
  readonly gainedMs: number;
  /** Undefined while it goes on. */
  readonly endedMs?: number;
  /** `abandoned`: given back, and the server did not confirm it. */
  readonly end?: 'released' | 'abandoned' | 'expired' | 'preempted' | 'process-ended';
}

/** The last part of a history, in which nothing went wrong any more: each job has one leader there, and runs. */
export interface Calm {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly jobs: readonly string[];
  /** What a right wall clock showed at 0. */
  readonly epochMs: number;
}

/** What the server held: one holder of a lock, from its grant until it was released, ran out or was taken away. */
export interface WitnessedHolding {
  readonly job: string;
  readonly process: string;
  readonly holder: string;
  /** Undefined where the holder is one that has none. */
  readonly fencingToken?: number;
  /** When the bid was sent that was granted. */
  readonly sentMs?: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** One command that the server carried out, with who held the lock before and after it. */
export interface WitnessedStep {
  readonly job: string;
  readonly process: string;
  readonly holder: string;
  readonly command: 'acquire' | 'renew' | 'claim' | 'release';
  readonly sentMs?: number;
  readonly atMs: number;
  readonly before?: string;
  readonly after?: string;
  /** Of a claim that was successful: the occurrence. */
  readonly claimed?: number;
}

/** A process has read an answer by which the occurrences up to `last` are claimed. */
export interface WitnessedSight {
  readonly job: string;
  readonly process: string;
  readonly last: number;
  readonly atMs: number;
}

/** A process has read that somebody else holds a lock it has bid for. */
export interface WitnessedRefusal {
  readonly job: string;
  readonly process: string;
  /** Its own, which the bid was made under. */
  readonly holder: string;
  /** Who holds the lock. */
  readonly by: string;
  readonly atMs: number;
}

/** A process has read the answer that its term holds. */
export interface WitnessedConfirmation {
  readonly job: string;
  readonly process: string;
  readonly fencingToken: number;
  /** When the request was sent that is confirmed. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** The life of a process. */
export interface WitnessedProcess {
  readonly process: string;
  readonly startedMs: number;
  /** When it was asked to stop. */
  readonly stopAskedMs?: number;
  readonly endedMs?: number;
  readonly end?: 'stopped' | 'killed';
  /** At its end by itself: the jobs whose lock it still had although nothing of them ran, and timers that it left. */
  readonly heldAtEnd?: readonly string[];
  readonly timersAtEnd?: number;
  /** When it first heard of the state of a job: that there was another before it cannot know. */
  readonly metMs?: ReadonlyMap<string, number>;
}

/** A time in which something went wrong; without a `process` with the store, or with all. */
export interface WitnessedFault {
  readonly kind: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly process?: string;
  /** Of a loss: the only job whose lock or state is lost. @default of all */
  readonly job?: string;
  /** Of a loss: what was written before this moment is kept. @default nothing is */
  readonly sinceMs?: number;
  /** Of a clock that was set: by how much it went ahead. */
  readonly byMs?: number;
}

/** What a fleet was set to: bounds are computed from it. */
export interface Settings {
  readonly heartbeatIntervalMs: number;
  readonly lockExpiryMs: number;
  readonly shutdownTimeoutMs: number;
  /** Of each cron job. */
  readonly misfireGraceMs?: ReadonlyMap<string, number>;
  /** Of each interval job. */
  readonly delayMs?: ReadonlyMap<string, number>;
  /** By which part of a duration two clocks may differ. */
  readonly drift: number;
  /** The longest that a command, an answer or a message travels when nothing is wrong; left out where nobody can say. */
  readonly travelMs?: number;
  /** What a busy machine may be late by. */
  readonly toleranceMs: number;
  /** What the wall clock of the store showed at 0. */
  readonly epochMs?: number;
}

export interface History {
  readonly runs: readonly WitnessedRun[];
  readonly reports: readonly WitnessedReport[];
  /** The occurrences that each cron job should have seen started or reported. */
  readonly due: ReadonlyMap<string, readonly number[]>;
  /** The period of each fixed rate whose slots are its multiples since the epoch. */
  readonly grids?: ReadonlyMap<string, number>;
  /** Every tick of those that was told as dropped; left out where nobody noted them. */
  readonly drops?: readonly WitnessedDrop[];
  readonly terms?: readonly WitnessedTerm[];
  readonly calm?: Calm;
  readonly settings?: Settings;
  readonly holdings?: readonly WitnessedHolding[];
  /** In the order in which the server carried them out. */
  readonly steps?: readonly WitnessedStep[];
  readonly confirmations?: readonly WitnessedConfirmation[];
  readonly sights?: readonly WitnessedSight[];
  readonly refusals?: readonly WitnessedRefusal[];
  readonly processes?: readonly WitnessedProcess[];
  readonly faults?: readonly WitnessedFault[];
  /** When nobody looked any more. */
  readonly endMs?: number;
}

export type Rule =
  | 'overlap'
  | 'start-without-lock'
  | 'token-went-back'
  | 'token-reused'
  | 'started-twice'
  | 'lost-in-silence'
  | 'off-the-grid'
  | 'leaderless-after-calm'
  | 'leaderless-too-long'
  | 'belief-beyond-lock'
  | 'start-outside-term'
  | 'start-after-deadline'
  | 'aborted-too-late'
  | 'token-not-grown'
  | 'started-and-reported'
  | 'reported-twice'
  | 'started-too-late'
  | 'slot-started-twice'
  | 'late-tick'
  | 'tick-unaccounted'
  | 'gap-too-short'
  | 'stop-too-long'
  | 'lock-kept'
  | 'timer-left'
  | 'act-after-end'
  | 'resurrected'
  | 'stranger-changed-lock'
  | 'too-many-commands'
  | 'lease-lost'
  | 'late-hand-over';

/** A broken promise, with the lines of the history that show it. */
export interface Violation {
  readonly rule: Rule;
  readonly evidence: string;
}
