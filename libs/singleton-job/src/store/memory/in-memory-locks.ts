import {
  type AcquireRequest,
  type AcquireResult,
  CLAIM_LEAD_MS,
  type ClaimOutcome,
  type ClaimRequest,
  type ClaimResult,
  type Holder,
  type JobState,
  type RefusalReason,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  sessionOf,
  type SetPausedRequest,
  type SetPausedResult,
  type StateUpdate,
} from '../lock-store.js';
import { type Lock, type ServerData, type ServerFacts, type State } from './server-data.js';

/** The same steps as the script ACQUIRE of the Redis store. */
export function acquire(data: ServerData, request: AcquireRequest, facts: ServerFacts): AcquireResult {
  const { name, holder, lifeMs, seenToken, stateLifeMs } = request;
  const { now } = facts;
  const lock = lockOf(data, name, now);
  const state = stateOf(data, name, now);
  const { token = 0, stateCreatedAt } = state;

  const reason = refusalReason(data, request, facts);
  if (reason !== undefined) {
    const ttlRestored = lock !== undefined && lock.expiresAt === undefined;
    if (ttlRestored) data.locks.set(name, { holder: lock.holder, expiresAt: now + lifeMs });
    const ttlMs = lock === undefined ? 0 : (lock.expiresAt ?? now + lifeMs) - now;
    const refusal = { granted: false, reason, holder: lock?.holder, ttlMs, token, stateCreatedAt } as const;
    return { ...refusal, storeTime: now, serverId: undefined, ttlRestored, ...jobState(state) };
  }

  const isRepeated = lock?.holder === holder && token > 0 && token >= seenToken;
  const granted = {
    token: isRepeated ? token : Math.max(token + 1, now, seenToken + 1),
    stateCreatedAt: stateCreatedAt ?? now,
  };
  const expiresAt = stateLifeMs === undefined ? state.expiresAt : now + stateLifeMs;
  data.locks.set(name, { holder, expiresAt: now + lifeMs });
  data.states.set(name, { ...state, ...granted, expiresAt });
  return {
    granted: true,
    previousHolder: lock?.holder,
    ...granted,
    storeTime: now,
    serverId: undefined,
    ...jobState(state),
  };
}

/** RENEW. */
export function renew(data: ServerData, request: RenewRequest, now: number): RenewResult {
  const holder = lockOf(data, request.name, now)?.holder;
  const held = holder === request.holder;
  if (held) extend(data, request, now);
  return { held, holder, pausedAt: stateOf(data, request.name, now).pausedAt, storeTime: now };
}

/** CLAIM. */
export function claim(data: ServerData, request: ClaimRequest, now: number): ClaimResult {
  const { name, scheduledAt } = request;
  const { held, holder, pausedAt } = renew(data, request, now);
  const state = stateOf(data, name, now);
  const outcome = held ? claimOutcome(state, request, now) : 'not-leader';
  const claimedBy = claimOf(request);
  if (outcome === 'claimed') data.states.set(name, { ...state, claimed: scheduledAt, claimedBy });
  const claimed = outcome === 'claimed' ? scheduledAt : (state.claimed ?? 0);
  return { outcome, claimed, holder, pausedAt, storeTime: now };
}

/** RELEASE, without its message. */
export function release(data: ServerData, request: ReleaseRequest, now: number): ReleaseResult {
  const released = lockOf(data, request.name, now)?.holder === request.holder;
  if (released) {
    data.locks.delete(request.name);
    record(data, request.name, { update: request.update, now });
  }
  return { released, storeTime: now };
}

/** SET_PAUSED. */
export function setPaused(data: ServerData, { name, isPaused }: SetPausedRequest, now: number): SetPausedResult {
  const state = stateOf(data, name, now);
  const pausedAt = isPaused ? (state.pausedAt ?? now) : undefined;
  if (pausedAt !== state.pausedAt) data.pausesVersion = Math.max(data.pausesVersion + 1, now);
  data.states.set(name, { ...state, pausedAt });
  return { pausedAt, holder: lockOf(data, name, now)?.holder, storeTime: now };
}

export function lockOf(data: ServerData, name: string, now: number): Lock | undefined {
  const lock = data.locks.get(name);
  return now > (lock?.expiresAt ?? Infinity) ? undefined : lock;
}

/** Deletes expired locks and states. Otherwise the locks of a thousand names would stay for ever. */
export function forgetExpired({ locks, states }: ServerData, now: number): void {
  for (const records of [locks, states]) {
    for (const [name, { expiresAt = Infinity }] of records) if (now > expiresAt) records.delete(name);
  }
}

function refusalReason(data: ServerData, request: AcquireRequest, facts: ServerFacts): RefusalReason | undefined {
  const { name, holder, knownStateCreatedAt, notBefore, isFirstStart } = request;
  const { now } = facts;
  const found = lockOf(data, name, now)?.holder;
  const { stateCreatedAt, pausedAt } = stateOf(data, name, now);
  if (found !== undefined && !mayTake(found, request)) return 'held';
  if (pausedAt !== undefined && found !== holder) return 'paused';
  if (isOutdated(data, request, facts) || (knownStateCreatedAt ?? stateCreatedAt) !== stateCreatedAt) return 'outdated';
  const mayWait = found !== holder && !(isFirstStart && stateCreatedAt === undefined);
  return mayWait && now < notBefore ? 'too-early' : undefined;
}

function mayTake(found: Holder, { holder, endedSession }: AcquireRequest): boolean {
  if (found === holder) return true;
  const session = sessionOf(found);
  if (session === undefined) return false;
  return session === endedSession || (session === sessionOf(holder) && attemptOf(found) < attemptOf(holder));
}

function isOutdated(data: ServerData, { heartbeat }: AcquireRequest, { runId }: ServerFacts): boolean {
  if (heartbeat?.serverId === undefined) return false;
  return heartbeat.serverId !== runId || heartbeat.serverSince !== data.server?.since;
}

function attemptOf(holder: Holder): number {
  return Number(/#(\d+)$/.exec(holder)?.[1]);
}

function extend(data: ServerData, request: RenewRequest, now: number): void {
  const { name, holder, lifeMs, update, stateLifeMs } = request;
  data.locks.set(name, { holder, expiresAt: now + lifeMs });
  record(data, name, { update, now });
  const state = stateOf(data, name, now);
  const hasState = Object.keys(state).length > 0;
  if (stateLifeMs !== undefined && hasState) data.states.set(name, { ...state, expiresAt: now + stateLifeMs });
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

function record(data: ServerData, name: string, { update, now }: { update: StateUpdate; now: number }): void {
  if (Object.values<unknown>(update).every((value) => value === undefined)) return;
  const state = stateOf(data, name, now);
  // a handled occurrence counts as claimed
  const claimed = highest(state.claimed, highest(update.claimed, update.handled));
  data.states.set(name, {
    ...state,
    claimed,
    claimedBy: claimed === state.claimed ? state.claimedBy : undefined,
    handled: highest(state.handled, update.handled),
    slot: highest(state.slot, update.slot),
    runStartedAt: newestTime(state.runStartedAt, update.runStartedAt, now),
    runEndedAt: newestTime(state.runEndedAt, update.runEndedAt, now),
    schedule: update.schedule ?? state.schedule,
  });
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

function stateOf(data: ServerData, name: string, now: number): State {
  const state = data.states.get(name);
  return state === undefined || now > (state.expiresAt ?? Infinity) ? {} : state;
}

function jobState(state: State): JobState {
  const { claimed, claimedBy, handled, slot, runStartedAt, runEndedAt, schedule, pausedAt } = state;
  return { claimed, claimedBy, handled, slot, runStartedAt, runEndedAt, schedule, pausedAt };
}
