import {
  type AcquireRequest,
  type Grant,
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type LockStore,
  type Refusal,
  type SessionResult,
  type SessionToKeep,
} from '../../store/lock-store.js';

/** Long enough that nothing ends while a test runs. */
export const LONG_MS = 600_000;

export function acquireRequest(holder: Holder, overrides: Partial<AcquireRequest> = {}): AcquireRequest {
  return {
    name: 'price-tick',
    holder,
    lifeMs: LONG_MS,
    seenToken: 0,
    endedSession: undefined,
    heartbeat: undefined,
    knownServerId: undefined,
    knownStateCreatedAt: undefined,
    notBefore: 0,
    isFirstStart: false,
    stateLifeMs: undefined,
    ...overrides,
  };
}

export async function granted(store: LockStore, request: AcquireRequest): Promise<Grant> {
  const result = await store.acquire(request);
  if (!result.granted) throw new Error(`'${request.holder}' was refused (${result.reason}): ${String(result.holder)}`);
  return result;
}

export async function refused(store: LockStore, request: AcquireRequest): Promise<Refusal> {
  const result = await store.acquire(request);
  if (result.granted) throw new Error(`'${request.holder}' was granted the lock`);
  return result;
}

/** The first session of a replica. */
export function sessionOfReplica(replica: string, overrides: Partial<SessionToKeep> = {}): SessionToKeep {
  const { lockExpiryMs = LONG_MS } = overrides;
  return { id: `${replica}.1@${String(lockExpiryMs)}`, lockExpiryMs, confirmedEnd: undefined, ...overrides };
}

export function heartbeat(
  store: LockStore,
  sessions: readonly SessionToKeep[],
  knownList?: HeartbeatRequest['knownList'],
): Promise<HeartbeatResult> {
  return store.heartbeat({ sessions, knownList });
}

/** The answer of a heartbeat about the only session of its request. */
export async function kept(store: LockStore, session: SessionToKeep): Promise<SessionResult> {
  const { sessions } = await heartbeat(store, [session]);
  const [result] = sessions;
  if (result === undefined) throw new Error(`no answer about '${session.id}'`);
  return result;
}

/** Waits for a condition. The limit is generous, because the machine may be busy. */
export async function eventually<T>(
  what: string,
  read: () => T | undefined | Promise<T | undefined>,
  limitMs = 20_000,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > giveUpAt) throw new Error(`waited ${String(limitMs)} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
