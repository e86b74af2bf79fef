import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { Listeners } from '../listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  CLAIM_LEAD_MS,
  type ClaimOutcome,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type JobState,
  type LockOverview,
  type LockStore,
  type LockStoreListener,
  type RefusalReason,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  sessionOf,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StateUpdate,
  type StoreMessage,
} from '../lock-store.js';
import { InMemorySessions, type Lock, type State } from './in-memory-sessions.js';

const FORGET_EVERY_MS = 60_000;

/**
 * A server in the memory of this process: sessions, locks and messages. It uses the wall clock of `clock`. Each
 * {@link InMemoryLockStore} on it is one client.
 */
export class InMemoryServer extends InMemorySessions {
  readonly #listeners = new Listeners();
  #forgotAt = 0;

  acquire(request: AcquireRequest): AcquireResult {
    const { name, holder, lifeMs, seenToken, stateLifeMs } = request;
    const now = this.now();
    this.#forgetExpired(now);
    const { locks, states } = this.data;
    const lock = this.lockOf(name, now);
    const state = this.#stateOf(name, now);
    const { token = 0, stateCreatedAt } = state;
    const common = { storeTime: now, serverId: undefined, ...jobState(state) };

    const reason = this.#refusalReason(request, lock, state, now);
    if (reason !== undefined) {
      const ttlRestored = lock !== undefined && lock.expiresAt === undefined;
      if (ttlRestored) locks.set(name, { holder: lock.holder, expiresAt: now + lifeMs });
      const ttlMs = lock === undefined ? 0 : (lock.expiresAt ?? now + lifeMs) - now;
      return { granted: false, reason, holder: lock?.holder, ttlMs, token, stateCreatedAt, ttlRestored, ...common };
    }

    const isRepeated = lock?.holder === holder && token > 0 && token >= seenToken;
    const granted = {
      token: isRepeated ? token : Math.max(token + 1, now, seenToken + 1),
      stateCreatedAt: stateCreatedAt ?? now,
    };
    const expiresAt = stateLifeMs === undefined ? state.expiresAt : now + stateLifeMs;
    locks.set(name, { holder, expiresAt: now + lifeMs });
    states.set(name, { ...state, ...granted, expiresAt });
    return { granted: true, previousHolder: lock?.holder, ...granted, ...common };
  }

  renew(request: RenewRequest): RenewResult {
    const { name, lifeMs, stateLifeMs } = request;
    const now = this.now();
    const holder = this.lockOf(name, now)?.holder;
    const held = holder === request.holder;
    if (held) {
      this.data.locks.set(name, { holder, expiresAt: now + lifeMs });
      this.#record(name, request.update, now);
      const state = this.#stateOf(name, now);
      const hasState = Object.keys(state).length > 0;
      if (stateLifeMs !== undefined && hasState) this.data.states.set(name, { ...state, expiresAt: now + stateLifeMs });
    }
    return { held, holder, pausedAt: this.#stateOf(name, now).pausedAt, storeTime: now };
  }

  claim(request: ClaimRequest): ClaimResult {
    const { name, scheduledAt } = request;
    const { held, holder, pausedAt, storeTime } = this.renew(request);
    const state = this.#stateOf(name, storeTime);
    const outcome = held ? claimOutcome(state, request, storeTime) : 'not-leader';
    if (outcome === 'claimed')
      this.data.states.set(name, { ...state, claimed: scheduledAt, claimedBy: claimOf(request) });
    const claimed = outcome === 'claimed' ? scheduledAt : (state.claimed ?? 0);
    return { outcome, claimed, holder, pausedAt, storeTime };
  }

  release({ name, holder, token, update }: ReleaseRequest): ReleaseResult {
    const now = this.now();
    const released = this.lockOf(name, now)?.holder === holder;
    if (released) {
      this.data.locks.delete(name);
      this.#record(name, update, now);
      this.publish({ kind: 'released', locks: [{ name, holder, token }] });
    }
    return { released, storeTime: now };
  }

  setPaused({ name, isPaused }: SetPausedRequest): SetPausedResult {
    const now = this.now();
    const state = this.#stateOf(name, now);
    const pausedAt = isPaused ? (state.pausedAt ?? now) : undefined;
    if (pausedAt !== state.pausedAt) this.data.pausesVersion = Math.max(this.data.pausesVersion + 1, now);
    this.data.states.set(name, { ...state, pausedAt });
    return { pausedAt, holder: this.lockOf(name, now)?.holder, storeTime: now };
  }

  readLocks(names: readonly string[]): LockOverview[] {
    const now = this.now();
    return names.map((name) => {
      const { lastRun, pausedAt } = this.#stateOf(name, now);
      return { holder: this.lockOf(name, now)?.holder, lastRun, pausedAt };
    });
  }

  publish(message: StoreMessage): void {
    queueMicrotask(() => {
      this.#listeners.each((listener) => listener.message?.(message));
    });
  }

  /** Sends each message to `listener`, until the returned function is called. */
  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  protected lockOf(name: string, now: number): Lock | undefined {
    const lock = this.data.locks.get(name);
    return now > (lock?.expiresAt ?? Infinity) ? undefined : lock;
  }

  #stateOf(name: string, now: number): State {
    const state = this.data.states.get(name);
    return state === undefined || now > (state.expiresAt ?? Infinity) ? {} : state;
  }

  /** Deletes expired locks and states. Otherwise the locks of a thousand names would stay for ever. */
  #forgetExpired(now: number): void {
    if (now < this.#forgotAt + FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    for (const records of [this.data.locks, this.data.states]) {
      for (const [name, { expiresAt = Infinity }] of records) if (now > expiresAt) records.delete(name);
    }
  }

  #refusalReason(
    request: AcquireRequest,
    lock: Lock | undefined,
    { stateCreatedAt, pausedAt }: State,
    now: number,
  ): RefusalReason | undefined {
    const { holder, heartbeat, knownStateCreatedAt = stateCreatedAt, notBefore, isFirstStart } = request;
    if (lock !== undefined && !mayTake(lock.holder, request)) return 'held';
    const isOurs = lock?.holder === holder;
    if (pausedAt !== undefined && !isOurs) return 'paused';
    const isOutdated =
      heartbeat?.serverId !== undefined &&
      (heartbeat.serverId !== this.serverId || heartbeat.serverSince !== this.data.server?.since);
    if (isOutdated || knownStateCreatedAt !== stateCreatedAt) return 'outdated';
    const mayWait = !isOurs && !(isFirstStart && stateCreatedAt === undefined);
    return mayWait && now < notBefore ? 'too-early' : undefined;
  }

  #record(name: string, update: StateUpdate, now: number): void {
    if (Object.values<unknown>(update).every((value) => value === undefined)) return;
    const state = this.#stateOf(name, now);
    // a handled occurrence counts as claimed
    const claimed = highest(state.claimed, highest(update.claimed, update.handled));
    this.data.states.set(name, {
      ...state,
      claimed,
      claimedBy: claimed === state.claimed ? state.claimedBy : undefined,
      handled: highest(state.handled, update.handled),
      slot: highest(state.slot, update.slot),
      runStartedAt: newestTime(state.runStartedAt, update.runStartedAt, now),
      runEndedAt: newestTime(state.runEndedAt, update.runEndedAt, now),
      lastRun: (update.lastRun ?? '') > (state.lastRun ?? '') ? update.lastRun : state.lastRun,
      schedule: update.schedule ?? state.schedule,
    });
  }
}

function mayTake(found: Holder, { holder, endedSession }: AcquireRequest): boolean {
  if (found === holder) return true;
  const session = sessionOf(found);
  if (session === undefined) return false;
  return session === endedSession || (session === sessionOf(holder) && attemptOf(found) < attemptOf(holder));
}

function attemptOf(holder: Holder): number {
  return Number(/#(\d+)$/.exec(holder)?.[1]);
}

function claimOutcome(state: State, request: ClaimRequest, now: number): ClaimOutcome {
  const { claimed = 0, claimedBy, pausedAt } = state;
  if (request.scheduledAt > now + CLAIM_LEAD_MS) return 'too-early';
  if (request.scheduledAt === claimed && claimedBy === claimOf(request)) return 'already-ours';
  if (request.scheduledAt <= claimed) return 'taken';
  return pausedAt === undefined ? 'claimed' : 'paused';
}

function claimOf({ holder, token }: ClaimRequest): string {
  return `${holder} ${token}`;
}

/** No run began or ended in the future: the clock may have been set back. */
function newestTime(stored: number | undefined, given: number | undefined, now: number): number | undefined {
  return given === undefined ? stored : Math.min(Math.max(stored ?? 0, Math.round(given)), now);
}

/** The higher of two values, either of which may be missing. */
function highest(stored: number | undefined, value: number | undefined): number | undefined {
  if (stored === undefined) return value;
  return value === undefined ? stored : Math.max(stored, value);
}

function jobState(state: State): JobState {
  const { claimed, claimedBy, handled, slot, runStartedAt, runEndedAt, lastRun, schedule, pausedAt } = state;
  return { claimed, claimedBy, handled, slot, runStartedAt, runEndedAt, lastRun, schedule, pausedAt };
}

/**
 * Locks in the memory of this process, for tests, simulations and applications that run only once. Each replica has a store of its
 * own, on the same server in memory.
 */
export class InMemoryLockStore implements LockStore {
  readonly name = 'memory';
  readonly #server: InMemoryServer;
  readonly #listeners = new Listeners();
  readonly #disconnect: () => void;
  #isClosed = false;

  constructor(server: InMemoryServer) {
    this.#server = server;
    this.#disconnect = server.addListener({
      message: (message) => {
        this.#listeners.each((listener) => listener.message?.(message));
      },
    });
  }

  get isSubscribed(): boolean {
    return !this.#isClosed;
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return this.#answer((server) => server.heartbeat(request));
  }

  endSession(session: SessionToKeep): Promise<void> {
    return this.#answer((server) => {
      server.endSession(session);
    });
  }

  acquire(request: AcquireRequest): Promise<AcquireResult> {
    return this.#answer((server) => server.acquire(request));
  }

  renew(request: RenewRequest): Promise<RenewResult> {
    return this.#answer((server) => server.renew(request));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#answer((server) => server.claim(request));
  }

  release(request: ReleaseRequest): Promise<ReleaseResult> {
    return this.#answer((server) => server.release(request));
  }

  setPaused(request: SetPausedRequest): Promise<SetPausedResult> {
    return this.#answer((server) => server.setPaused(request));
  }

  readLocks(names: readonly string[]): Promise<readonly LockOverview[]> {
    return this.#answer((server) => server.readLocks(names));
  }

  publish(message: StoreMessage): Promise<void> {
    return this.#answer((server) => {
      server.publish(message);
    });
  }

  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    queueMicrotask(() => {
      if (!this.#isClosed) this.#listeners.each((listener) => listener.subscribed?.());
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#disconnect();
    return Promise.resolve();
  }

  #answer<T>(step: (server: InMemoryServer) => T): Promise<T> {
    if (!this.#isClosed) return Promise.resolve(step(this.#server));
    return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false }));
  }
}
