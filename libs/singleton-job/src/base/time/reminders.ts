export const MIN_REMINDER_MS = 60_000;
export const MAX_REMINDER_MS = 3_600_000;

/** What lasts is said again after 1 min, 2 min, 4 min and so on, then once an hour. `saidAt`: when it was said last. */
export function nextReminderAt(beganAt: number, saidAt: number): number {
  const forMs = saidAt - beganAt;
  return saidAt + Math.min(Math.max(MIN_REMINDER_MS - forMs, forMs), MAX_REMINDER_MS);
}
