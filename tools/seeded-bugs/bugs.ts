import { type Bug } from './bug.js';
import { BUGS_OF_LEASES } from './bugs-of-leases.js';
import { BUGS_OF_SCHEDULES } from './bugs-of-schedules.js';
import { BUGS_OF_THE_STORE } from './bugs-of-the-store.js';

/** Every mistake that the simulation has to catch. */
export const BUGS: readonly Bug[] = [...BUGS_OF_LEASES, ...BUGS_OF_THE_STORE, ...BUGS_OF_SCHEDULES];
