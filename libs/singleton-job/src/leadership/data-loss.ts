import { type Grant } from '../store/index.js';
import { type Instant } from '../time/index.js';
import { type JobMemory } from './job-memory.js';
import { type Term } from './term.js';

/** What a process knew of a job whose state Redis has lost. */
export interface DataLoss {
  /** Birth of the state that was known before, and of the one in its place. */
  readonly bornBefore: number;
  readonly born: number;
  /** The longest time to live of a lock of this job that was seen until then; later ones are locks of the new state. */
  readonly longestTtlMs: number;
  /** When it was first heard of, monotonic: it happened before. */
  readonly heardAtMs: number;
}

/** What a loss of data leaves to a new leader. */
export interface Aftermath {
  /** How long it waits before its first run. */
  readonly waitMs: number;
  /** Occurrences up to here, by the store's clock, may have been started by a claim that is lost; 0 if there are none. */
  readonly doubtfulUpTo: number;
}

interface NewTerm {
  readonly grant: Grant;
  /** When the bid that won was sent. */
  readonly sent: Instant;
  readonly memory: Pick<JobMemory, 'loss'>;
  readonly lockExpiryMs: number;
  /** The term that this process had before. */
  readonly previous: (Pick<Term, 'end' | 'grant' | 'covers' | 'waitMs'> & { readonly facts: Aftermath }) | undefined;
}

/**
 * With its data Redis forgot whose lock it was, and that leader may still trust its lease, for as long as the longest lock
 * lives: until then nobody else may run. (The lock-delay of Chubby, kept by the client.)
 * A process has not seen every lock: one of an earlier leader may have lived for as long as those that it asks for itself.
 * Nobody has to wait for itself: a lease that had not passed its deadline when the winning bid was sent excluded everybody else.
 */
export function aftermathOf({ grant, sent, memory, lockExpiryMs, previous }: NewTerm): Aftermath {
  const { loss } = memory;
  if (loss?.born !== grant.born) return { waitMs: 0, doubtfulUpTo: 0 };
  const wasOurs = previous?.end === 'preempted' && previous.grant.born === loss.bornBefore && previous.covers(sent);
  // what it still had to wait for itself it waits for now
  if (wasOurs) return { waitMs: previous.waitMs, doubtfulUpTo: previous.facts.doubtfulUpTo };
  // of a clock of Redis that was stepped back behind the loss our own knows better how long ago that is
  const knownForMs = Math.max(sent.now - loss.heardAtMs, 0);
  const noticedAt = grant.time - knownForMs;
  // a state older than the lost one was brought back, from a backup say: its birth does not tell when
  const lostAt = loss.born > loss.bornBefore ? Math.min(loss.born, noticedAt) : noticedAt;
  const doubtfulUpTo = lostAt + Math.max(lockExpiryMs, loss.longestTtlMs);
  return { waitMs: Math.max(doubtfulUpTo - grant.time, 0), doubtfulUpTo };
}
