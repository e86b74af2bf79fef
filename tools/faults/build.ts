import { buildReplica } from './build-replica.js';

/** Prints where the compiled replica is. */
console.log(await buildReplica());
