import { type Grant } from '../lock/index.js';
import { type Instant } from '../time/index.js';
import { type JobMemory } from './job-memory.js';
import { type Term } from './term.js';

/** What a process knew of a job whose state Redis has lost. */
export interface DataLoss {
  /** Birth of the state that was known before, and of the one in its place. */
  readonly bornBefore: number;
  readonly born: number;
}

interface NewTerm {
  readonly grant: Grant;
  /** When the bid that won was sent. */
  readonly sent: Instant;
  readonly memory: Pick<JobMemory, 'loss' | 'longestTtlMs'>;
  readonly lockExpiryMs: number;
  /** The term that this process had before. */
  readonly previous: Pick<Term, 'end' | 'grant' | 'covers' | 'waitMs'> | undefined;
}

/**
 * How long a new leader waits before its first run. With its data Redis forgot whose lock it was, and that leader may
 * still trust its lease, for as long as the longest lock lives. (The lock-delay of Chubby, kept by the client.)
 * Nobody has to wait for itself: a lease that had not passed its deadline when the winning bid was sent excluded everybody else.
 */
export function waitAfterDataLossMs({ grant, sent, memory, lockExpiryMs, previous }: NewTerm): number {
  const { loss } = memory;
  if (loss?.born !== grant.born) return 0;
  const wasOurs = previous?.end === 'preempted' && previous.grant.born === loss.bornBefore && previous.covers(sent);
  // what it still had to wait for itself it waits for now
  if (wasOurs) return previous.waitMs;
  // a clock of Redis that was stepped back must not make the wait longer than a lock lives
  const ageMs = Math.max(grant.time - grant.born, 0);
  return Math.max(Math.max(lockExpiryMs, memory.longestTtlMs) - ageMs, 0);
}
