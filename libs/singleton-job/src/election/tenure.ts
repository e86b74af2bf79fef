import { attemptDeadlineMs } from '../options/index.js';
import { type Replica } from './replica.js';
import { type Term } from './term.js';

/** Gives a term back. Resolves to whether the store has confirmed that; otherwise the lock is left to expire. Never rejects. */
export type GiveBack = () => Promise<boolean>;

/** Renews a term with every heartbeat of the process, until it ends or is given back. */
export function hold(replica: Replica, term: Term): GiveBack {
  const { heartbeat, identity, releases } = replica;
  const stopHeartbeat = heartbeat.join(() => void term.renew());
  // what was lost may never be given back, and must not keep the process alive
  term.signal.addEventListener('abort', stopHeartbeat);
  return async () => {
    stopHeartbeat();
    term.finish('released');
    const { job, holder, lockExpiryMs, memory } = term.facts;
    const freeing = { job, holder, progress: () => memory.final(), deadlineMs: attemptDeadlineMs(lockExpiryMs) };
    // also after an ungraceful end: by then the run has settled, and until Redis forgets the lock nobody could lead
    const confirmed = term.end === 'preempted' || (await releases.free(freeing));
    identity.retire(holder);
    replica.forget(job);
    return confirmed;
  };
}
