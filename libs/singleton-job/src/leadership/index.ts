export { Candidacy, type Contest } from './candidacy.js';
export { JobMemory } from './job-memory.js';
export { LeaderElection } from './leader-election.js';
export { Replica } from './replica.js';
export { type GiveBack, hold } from './tenure.js';
export { Term } from './term.js';
