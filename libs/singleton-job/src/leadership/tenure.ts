import { attemptDeadlineMs } from '../options/index.js';
import { type Replica } from './replica.js';
import { type Term } from './term.js';

/** Gives a term back. Resolves to whether the store has confirmed that; otherwise the lock is left to expire. Never rejects. */
export type GiveBack = () => Promise<boolean>;

/**
 * Renews a term with every heartbeat of the process, until it ends or is given back. At once, too, where a late grant left
 * so little of its lease that it may end before the next heartbeat is answered.
 */
export function hold(replica: Replica, term: Term): GiveBack {
  const { heartbeat, identity, releases, settings } = replica;
  const { job, holder, lockExpiryMs, memory } = term.facts;
  const leave = replica.asks(job);
  const deadlineMs = attemptDeadlineMs(lockExpiryMs);
  const stopHeartbeat = heartbeat.join(() => void term.renew());
  const rest = (): void => {
    stopHeartbeat();
    leave();
  };
  // what was lost may never be given back, and must neither keep the process alive nor be noted for ever
  term.signal.addEventListener('abort', rest);
  if (term.remainingMs < settings.heartbeatIntervalMs + deadlineMs) void term.renew();
  return async () => {
    const leaveAgain = replica.asks(job);
    rest();
    term.finish('released');
    const freeing = { job, holder, progress: () => memory.final(), deadlineMs };
    // also after an ungraceful end: by then the run has settled, and until Redis forgets the lock nobody could lead
    const confirmed = term.end === 'preempted' || (await releases.free(freeing));
    identity.retire(holder);
    leaveAgain();
    return confirmed;
  };
}
