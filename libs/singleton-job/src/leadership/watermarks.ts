import { type Grant, type JobState, type Refusal, type StateUpdate } from '../store/lock-store.js';

/** What earlier leaders have left: the new leader reports it and continues from there. Times are by the clock of the store. */
export interface Backlog {
  /** When the new leader became the leader. */
  readonly grantedAt: number;
  /** A cron job begins after this occurrence. Each occurrence up to here is handled, or is reported now. */
  readonly claimed: number;
  /** Occurrences in (`handled`, `claimed`] were claimed, and their runs may not have begun. */
  readonly unconfirmed:
    { readonly handled: number; readonly claimed: number; readonly claimedBy: string | undefined } | undefined;
  /** Occurrences in (`after`, `claimed`] are older than a new schedule. */
  readonly replaced: { readonly after: number } | undefined;
  /** The store has lost its state: nothing is known about occurrences in (`after`, `claimed`]. */
  readonly lost: { readonly after: number } | undefined;
  /** Claims of occurrences that came due before this time may be lost. */
  readonly claimsLostBefore: number;
  /** The newest occurrence of a cron job whose run began. Its schedule began then if it never ran. Not known of another kind: 0. */
  readonly ran: number;
  /** The newest slot of a fixed rate whose run began, 0 if none. */
  readonly slot: number;
  /** When the last run of an interval began and ended. Undefined: not known. */
  readonly runStartedAt: number | undefined;
  readonly runEndedAt: number | undefined;
  /** The later of the two that the store had recorded. This replica may know a later run of its own, of which the last leader did not know. */
  readonly recordedRunAt: number | undefined;
  /** When the lease of a last leader ended that may have started runs until then. Undefined: its session is not known to have ended. */
  readonly leaseEndedAt: number | undefined;
  /** The last leader, if it ended its session itself when its process crashed. Undefined: it did not. */
  readonly crashedReplica: string | undefined;
  /** The record of the last run. */
  readonly lastRun: string | undefined;
}

/** How far leaders got. Each number only grows. */
type Progress = { -readonly [Field in (typeof FIELDS)[number]]?: JobState[Field] };

const FIELDS = ['claimed', 'handled', 'slot', 'runStartedAt', 'runEndedAt'] as const;

/**
 * What this process knows about one job, from answers of the store, from messages and from its own terms. So fencing tokens grow, and
 * claimed occurrences stay claimed, also if the store loses its data while this replica lives.
 */
export class Watermarks {
  /** When the job was paused on all replicas, by the clock of the store, in its latest answer. Undefined: it is not paused. */
  pausedAt: number | undefined;
  /** When a pause began that the store has lost with its data, before it was ended. Undefined: none was lost. */
  lostPausedAt: number | undefined;
  #serverId: string | undefined;
  #token = 0;
  #releasedToken = 0;
  #stateCreatedAt: number | undefined;
  #isNew = true;
  #progress: Progress = {};
  #lastRun: (() => string) | undefined;
  /** Whether the store has confirmed a request of the present term. */
  #isRecorded = false;

  /** The highest fencing token seen, 0 if none. */
  get token(): number {
    return this.#token;
  }

  /** The newest occurrence known to be claimed or reported, 0 if none. */
  get claimed(): number {
    return this.#progress.claimed ?? 0;
  }

  /** The newest occurrence or slot whose run began or that was reported, 0 if none. */
  get newestTick(): number {
    return Math.max(this.claimed, this.#progress.slot ?? 0);
  }

  /** The server that keeps the lock, as the latest answer about it shows. See `AcquireRequest.knownServerId`. */
  get serverId(): string | undefined {
    return this.#serverId;
  }

  get stateCreatedAt(): number | undefined {
    return this.#stateCreatedAt;
  }

  /** Whether this process never saw a state, a holder or a message of the job: this may be its first start. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** The lock was granted to a replica with this token. False: the message is out of date, because the lock was released since. */
  grantedToOther(token: number): boolean {
    this.#isNew = false;
    if (token <= this.#releasedToken || token < this.#token) return false;
    this.#token = token;
    return true;
  }

  /** The lock with this token was released. 0: the request may never have been granted. False: the message is out of date. */
  released(token: number): boolean {
    this.#isNew = false;
    this.#releasedToken = Math.max(this.#releasedToken, token);
    return token === 0 || token >= this.#token;
  }

  /** An acquire request was refused. */
  refused(refusal: Refusal): void {
    const { holder, stateCreatedAt } = refusal;
    if (holder !== undefined || stateCreatedAt !== undefined) this.#isNew = false;
    // the end of a pause keeps the state
    const hasLostState = this.#stateCreatedAt !== undefined && this.#stateCreatedAt !== stateCreatedAt;
    if (hasLostState && refusal.pausedAt === undefined) this.lostPausedAt = this.pausedAt;
    this.#stateCreatedAt = stateCreatedAt;
    this.#learn(refusal);
  }

  /**
   * The lock was granted to this replica for a job with this schedule. Returns what earlier leaders have left. `knowsAll`: no other replica
   * can have led since this replica did, so it knows everything, also if the store lost its data.
   */
  grantedToUs(
    grant: Grant,
    schedule: string,
    knowsAll = false,
  ): Omit<Backlog, 'grantedAt' | 'claimsLostBefore' | 'leaseEndedAt' | 'crashedReplica'> {
    const { claimed: claimedBefore = 0, handled: after = 0 } = this.#progress;
    this.#isNew = this.#isRecorded = false;
    this.#stateCreatedAt = grant.stateCreatedAt;
    this.#learn(grant);
    this.#cutRuns(grant.storeTime);
    // undefined: no leader has recorded anything since the state was created
    const previous = grant.schedule ?? (knowsAll ? schedule : undefined);
    const { claimed = 0, handled = 0, slot = after } = this.#progress;
    const hasChanged = previous !== schedule;
    if (hasChanged && isCron(schedule)) {
      const beginsAt = previous === undefined ? grant.stateCreatedAt : grant.storeTime;
      this.raise({ claimed: beginsAt, slot: beginsAt });
    }
    this.raise({ handled: this.#progress.claimed });
    const isUnconfirmed = previous !== undefined && handled < claimed;
    const isReplaced = hasChanged && isCron(previous) && this.claimed > claimed;
    const isLost = previous === undefined && claimedBefore > 0;
    const claimedBy = grant.claimed === claimed ? grant.claimedBy : undefined;
    return {
      claimed: this.claimed,
      unconfirmed: isUnconfirmed ? { handled, claimed, claimedBy } : undefined,
      replaced: isReplaced ? { after: claimed } : undefined,
      lost: isLost ? { after } : undefined,
      ran: isCron(schedule) ? Math.min(hasChanged && !isLost ? this.claimed : slot, this.claimed) : 0,
      slot: this.#progress.slot ?? 0,
      runStartedAt: this.#progress.runStartedAt,
      runEndedAt: this.#progress.runEndedAt,
      recordedRunAt: latest(grant.runStartedAt, grant.runEndedAt),
      lastRun: grant.lastRun,
    };
  }

  /** A replica got this far. Nothing is lowered, and a handled occurrence counts as claimed. */
  raise(progress: Progress): void {
    const raised = this.#progress;
    for (const field of FIELDS) raised[field] = latest(raised[field], progress[field]);
    raised.claimed = latest(raised.claimed, raised.handled);
  }

  /** No run began or ended in the future: the clock of the store was set back. */
  #cutRuns(now: number): void {
    for (const field of ['runStartedAt', 'runEndedAt'] as const) {
      const at = this.#progress[field];
      if (at !== undefined) this.#progress[field] = Math.min(at, now);
    }
  }

  /**
   * Sent with every renewal and claim, so that a store that lost its last writes gets them again. Until a request is confirmed, it has what
   * the new leader found, and its schedule.
   */
  update(schedule: string): StateUpdate {
    const { claimed, ...progress } = this.#progress;
    const lastRun = this.#lastRun && { lastRun: this.#lastRun() };
    return this.#isRecorded ? { ...progress, ...lastRun } : { ...progress, ...lastRun, claimed, schedule };
  }

  /** Sent with the release. It has the claim too, which a store that lost its last writes may not have. */
  lastUpdate(schedule: string): StateUpdate {
    return { ...this.update(schedule), claimed: this.#progress.claimed };
  }

  /** A run has begun. `describe` gives its record, which each request sends from now on. */
  runBegan(describe: () => string): void {
    this.#lastRun = describe;
  }

  /** A request of this leader was confirmed. */
  recorded(): void {
    this.#isRecorded = true;
  }

  #learn(state: Grant | Refusal): void {
    this.#serverId = state.serverId;
    this.#token = Math.max(this.#token, state.token);
    this.pausedAt = state.pausedAt;
    this.raise(state);
  }
}

function isCron(schedule: string | undefined): boolean {
  return schedule?.startsWith('cron ') === true;
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
