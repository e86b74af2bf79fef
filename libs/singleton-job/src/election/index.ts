export { Candidacy, type Office } from './candidacy.js';
export { JobMemory } from './job-memory.js';
export { type Lead, LeaderElection, type StopReason } from './leader-election.js';
export { Replica, type ReplicaParts, type ReplicaSettings } from './replica.js';
export { type GiveBack, hold } from './tenure.js';
export { Term, type TermFacts } from './term.js';
