/** Sessions, leases and terms. README.md of this folder explains how they work. */
export { Election } from './election.js';
export { type BackupReport, type HeartbeatBackup, type KeptSession, type MainThreadState } from './heartbeat-backup.js';
export { afterTtlMs, deadlineOf, isBefore, later } from './lease.js';
export { type LockWaiter } from './lock-messages.js';
export { LockRenewal } from './renewals.js';
export { Replica } from './replica.js';
export { Term } from './term.js';
