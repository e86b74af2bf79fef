import { type Fault } from '../fault.js';
import * as clocks from './clock-faults.js';
import * as data from './data-faults.js';
import { LATE_COMMAND } from './late-command-faults.js';
import * as network from './network-faults.js';
import * as outages from './outage-faults.js';
import * as processes from './process-faults.js';
import * as redis from './redis-faults.js';
import { KILLED_BETWEEN_STEPS } from './step-faults.js';

/** Everything that goes wrong in these tests, one row of the table each. */
export const FAULTS: readonly Fault[] = [
  ...Object.values(processes),
  KILLED_BETWEEN_STEPS,
  LATE_COMMAND,
  ...Object.values(network),
  ...Object.values(outages),
  ...Object.values(data),
  ...Object.values(redis),
  ...Object.values(clocks),
];
