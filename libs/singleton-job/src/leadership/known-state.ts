import { type Grant, type JobState, type Refusal, type StateUpdate } from '../store/index.js';

/** What earlier leaders have left, and the new leader must report. */
export interface Inherited {
  /** The new leader begins after this occurrence. All occurrences up to here are settled, or are reported now. */
  readonly newestClaimed: number;
  /** Occurrences in (`settled`, `claimed`] were claimed, and their runs may not have begun. */
  readonly unconfirmed:
    { readonly settled: number; readonly claimed: number; readonly claimedBy: string | undefined } | undefined;
  /** Occurrences in (`after`, `newestClaimed`] that are older than a new schedule. */
  readonly replaced: { readonly after: number } | undefined;
  /** The store has lost its state: nothing is known about occurrences in (`after`, `newestClaimed`]. */
  readonly lost: { readonly after: number } | undefined;
  /** When the last interval run ended, by the clock of the store. Undefined: not known, or under another schedule. */
  readonly lastRunEndedAt: number | undefined;
}

/**
 * What this process knows about one job, from answers of the store, from messages and from its own terms. So fencing tokens grow, and
 * claimed occurrences stay claimed, also if the store loses its data while this replica lives.
 */
export class KnownState {
  /** When the job was paused on all replicas, by the clock of the store, in its latest answer. Undefined: it is not paused. */
  pausedAt: number | undefined;
  /** When a pause began that the store has lost with its data, before it was ended. Undefined: none was lost. */
  lostPausedAt: number | undefined;
  /** The pause before a grant to another replica. The state in the next answer shows whether it was ended, or lost. */
  #pausedBeforeGrant: number | undefined;
  #token = 0;
  #releasedToken = 0;
  #stateCreatedAt: number | undefined;
  #isNew = true;
  #newestClaimed = 0;
  #newestSettled = 0;
  #lastRunEndedAt: number | undefined;
  /** The schedule of `newestClaimed`. */
  #schedule: string | undefined;

  /** The highest fencing token seen, 0 if none. */
  get token(): number {
    return this.#token;
  }

  /** The newest occurrence or slot known to be claimed, reported or fired, 0 if none. */
  get newestClaimed(): number {
    return this.#newestClaimed;
  }

  get stateCreatedAt(): number | undefined {
    return this.#stateCreatedAt;
  }

  /** Whether this process never saw a state, a holder or a message of the job: this may be its first start. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** The lock was granted to a replica with this token. False: the message is out of date, because the lock was released since. */
  granted(token: number): boolean {
    this.#isNew = false;
    if (token <= this.#releasedToken || token < this.#token) return false;
    this.#token = token;
    // the lock of a paused job is not granted
    this.#pausedBeforeGrant ??= this.pausedAt;
    this.pausedAt = undefined;
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
    if (hasLostState && refusal.pausedAt === undefined) this.lostPausedAt = this.pausedAt ?? this.#pausedBeforeGrant;
    this.#stateCreatedAt = stateCreatedAt;
    this.#learn(refusal, refusal.token);
  }

  /**
   * The lock was granted to this replica for a job with this schedule. Returns what earlier leaders have left. `goesOn`: no other replica
   * can have led since this replica did, so it knows everything, also if the store lost its data.
   */
  won(grant: Grant, schedule: string, goesOn = false): Inherited {
    const { storeTime } = grant;
    this.#adopt(grant.schedule ?? schedule);
    const before = { claimed: this.#newestClaimed, settled: this.#newestSettled, isNew: this.#isNew };
    this.#isNew = false;
    this.#stateCreatedAt = grant.stateCreatedAt;
    this.#learn(grant, grant.token);
    const isLost = grant.newestClaimed === undefined && !(goesOn && before.claimed > 0);
    const found = isLost ? withoutState(before, storeTime) : this.#ofState(grant, schedule);
    const inherited = { ...found, lastRunEndedAt: latest(found.lastRunEndedAt, this.#lastRunEndedAt) };
    this.#newestClaimed = inherited.newestClaimed;
    this.#newestSettled = inherited.newestClaimed;
    this.#schedule = schedule;
    return inherited;
  }

  /** The occurrence at `scheduledAt` was claimed by a replica. */
  claimed(scheduledAt: number): void {
    this.#newestClaimed = Math.max(this.#newestClaimed, scheduledAt);
  }

  /** The occurrence or slot at `scheduledAt` is settled: its run has begun, or it was reported. */
  settled(scheduledAt: number): void {
    this.claimed(scheduledAt);
    this.#newestSettled = Math.max(this.#newestSettled, scheduledAt);
  }

  /** An interval run ended at this time by the clock of the store. */
  runEnded(at: number): void {
    this.#lastRunEndedAt = latest(at, this.#lastRunEndedAt);
  }

  /** Sent with every renewal and claim, so that a store that lost its last writes gets them again. */
  get progress(): StateUpdate {
    return { newestSettled: this.#newestSettled, lastRunEndedAt: this.#lastRunEndedAt };
  }

  #learn(state: JobState, token: number): void {
    this.#token = Math.max(this.#token, token);
    this.pausedAt = state.pausedAt;
    this.#pausedBeforeGrant = undefined;
    this.#adopt(state.schedule);
    this.#newestClaimed = Math.max(this.#newestClaimed, state.newestClaimed ?? 0);
    this.#newestSettled = Math.max(this.#newestSettled, state.newestSettled ?? 0);
  }

  /** Slots of a fixed rate are no occurrences: a slot from a fast clock must not hide later cron occurrences. */
  #adopt(schedule: string | undefined): void {
    const wasOther = this.#schedule !== undefined && !isCron(this.#schedule);
    if (wasOther && isCron(schedule)) this.#newestClaimed = this.#newestSettled = 0;
    this.#schedule = schedule ?? this.#schedule;
  }

  #ofState(grant: Grant, schedule: string): Inherited {
    const [claimed, settled] = [this.#newestClaimed, this.#newestSettled];
    const previous = grant.schedule ?? schedule;
    const hasChanged = previous !== schedule;
    const wasCron = isCron(previous);
    const unconfirmed =
      wasCron && settled < claimed
        ? { settled, claimed, claimedBy: grant.newestClaimed === claimed ? grant.claimedBy : undefined }
        : undefined;
    const newestClaimed = !hasChanged ? claimed : wasCron ? Math.max(claimed, grant.storeTime) : grant.storeTime;
    const replaced = hasChanged && wasCron && newestClaimed > claimed ? { after: claimed } : undefined;
    const lastRunEndedAt = hasChanged ? undefined : grant.lastRunEndedAt;
    return { newestClaimed, unconfirmed, replaced, lost: undefined, lastRunEndedAt };
  }
}

/** The store has no state: the job begins now, unless this process knows of occurrences that the store has lost. */
function withoutState(before: { claimed: number; settled: number; isNew: boolean }, now: number): Inherited {
  const lost = before.isNew || before.claimed === 0 ? undefined : { after: before.settled };
  const newestClaimed = Math.max(now, before.claimed);
  return { newestClaimed, unconfirmed: undefined, replaced: undefined, lost, lastRunEndedAt: undefined };
}

function isCron(schedule: string | undefined): boolean {
  return schedule?.startsWith('cron:') === true;
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
