/** Who leads: sessions, leases and terms. README.md of this folder teaches how they work. */
export { Election } from './election.js';
export { type ElectionOptions } from './follower.js';
export { KnownState } from './known-state.js';
export { afterTtlMs, deadlineOf, isBefore, safetyMarginMs } from './lease.js';
export { type LockNews, Replica, type Waiter } from './replica.js';
export { Alarm } from './alarm.js';
export { type TermEnd, Term } from './term.js';
