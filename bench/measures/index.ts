import { type Measure } from '../measure.js';
import { failover } from './failover.js';
import { precision } from './precision.js';

export const MEASURES: readonly Measure[] = [precision, failover];
