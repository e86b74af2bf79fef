/** Sessions, leases and terms. README.md of this folder explains how they work. */
export {
  BackupHeartbeats,
  type BackupReport,
  type HeartbeatBackup,
  type MainThreadState,
} from './backup-heartbeats.js';
export { Election } from './election.js';
export { afterTtlMs, deadlineOf, isBefore } from './lease.js';
export { Replica, type Waiter } from './replica.js';
export { Term } from './term.js';
export { type Backlog, Watermarks } from './watermarks.js';
