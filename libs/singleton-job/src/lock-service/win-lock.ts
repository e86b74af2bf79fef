import { Candidacy, type JobMemory, type Replica, type Term } from '../leadership/index.js';
import { LockStoreError } from '../errors/index.js';
import { STATE_TTL_MS } from './lock-memories.js';
import { type LockRequest } from './lock-request.js';

/** A request, and what this process knows of the lock. */
export interface InformedRequest extends LockRequest {
  readonly memory: JobMemory;
}

/** How long an answer is waited for that says whether the lock is free: the first question may have to connect. */
const ANSWER_MS = 2_000;

/**
 * Bids until it wins, or until the request allows no more. Null is certain: somebody else has the lock. Also null when
 * `stop` aborts.
 *
 * @throws LockStoreError when nobody knows who has the lock
 */
export async function winLock(replica: Replica, request: InformedRequest, stop: AbortSignal): Promise<Term | null> {
  const { clock } = replica;
  const { name, expiryMs, waitMs, memory } = request;
  const quitting = new AbortController();
  const giveUp = (): void => {
    quitting.abort();
  };
  let isPatient = waitMs > 0;
  /** What the latest bid met with: a failure, or somebody else's lock. */
  const met: { failure: LockStoreError | undefined } = {
    failure: new LockStoreError('STORE_UNREACHABLE', `no answer about '${name}' in time`),
  };
  const turnedAway = (by: unknown): void => {
    const failure = by instanceof LockStoreError ? by : undefined;
    met.failure = failure;
    // what Redis refuses it will refuse again; while it does not answer, it may soon
    const isHopeless = failure !== undefined && failure.code !== 'STORE_UNREACHABLE';
    if (isHopeless || (failure === undefined && !isPatient)) giveUp();
  };
  const contest = { job: name, lockExpiryMs: expiryMs, schedule: 'lock', initialDelayMs: 0, stateTtlMs: STATE_TTL_MS };
  const candidacy = new Candidacy(replica, { ...contest, memory, turnedAway });
  const timers = [
    clock.setTimer(waitMs, () => {
      isPatient = false;
      if (met.failure === undefined) giveUp();
    }),
    clock.setTimer(Math.max(waitMs, ANSWER_MS), giveUp),
  ];
  const leave = replica.enter(name, candidacy);
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  try {
    const term = await candidacy.win(quitting.signal);
    if (term === undefined && met.failure !== undefined && !stop.aborted) throw met.failure;
    return term ?? null;
  } finally {
    for (const timer of timers) timer.cancel();
    leave();
    stop.removeEventListener('abort', giveUp);
  }
}
