import { type WhileLeaderSchedule } from './schedule.js';

/** No ticks: one call that lasts as long as the leadership, and `restartDelayMs` after a call that ended before. */
export function whileLeader(restartDelayMs: number): WhileLeaderSchedule {
  return Object.freeze({
    kind: 'while-leader' as const,
    summary: 'while leader',
    description: 'while leader',
    restartDelayMs,
    next: () => undefined,
  });
}
