/** Who leads: sessions, leases and terms. README.md of this folder teaches how they work. */
export { Election } from './election.js';
export { KnownState } from './known-state.js';
export { afterTtlMs, deadlineOf, isBefore } from './lease.js';
export { Replica, type Waiter } from './replica.js';
export { Alarm } from './alarm.js';
export { Pulse } from './pulse.js';
export { Term } from './term.js';
