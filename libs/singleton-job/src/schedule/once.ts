import { type OnceSchedule } from './schedule.js';

/** No ticks: one run of all replicas. */
export const ONCE: OnceSchedule = Object.freeze({
  kind: 'once',
  summary: 'once',
  description: 'once',
  next: () => undefined,
});
