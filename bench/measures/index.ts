import { type Measure } from '../measure.js';
import { costOfFollower } from './cost-follower.js';
import { costOfLeader } from './cost-leader.js';
import { costOfRedis } from './cost-redis.js';
import { costOfRun } from './cost-run.js';
import { crash } from './crash.js';
import { failover } from './failover.js';
import { growth } from './growth.js';
import { handOver } from './hand-over.js';
import { memory } from './memory.js';
import { precision } from './precision.js';
import { start } from './start.js';

/** In the order in which they are run and shown. */
export const MEASURES: readonly Measure[] = [
  precision,
  costOfRun,
  costOfLeader,
  costOfFollower,
  costOfRedis,
  memory,
  start,
  handOver,
  failover,
  crash,
  growth,
];
