import { type OnceSchedule, type WhileLeaderSchedule } from './schedule.js';

/** One run of all replicas. */
export const ONCE: OnceSchedule = Object.freeze({
  kind: 'once',
  summary: 'once',
  description: 'once',
  next: () => undefined,
});

/** One call that lasts as long as the leadership, and `restartDelayMs` after a call that ended before. */
export function whileLeader(restartDelayMs: number): WhileLeaderSchedule {
  return Object.freeze({
    kind: 'while-leader' as const,
    summary: 'while leader',
    description: 'while leader',
    restartDelayMs,
    next: () => undefined,
  });
}
