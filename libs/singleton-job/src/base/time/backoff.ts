const MAX_BACKOFF_MS = 30_000;

/**
 * The wait after so many failures in a row: it doubles with each after the first, up to 30 s or to `baseMs`, if that is
 * longer.
 */
export function backoffMs(baseMs: number, failures: number): number {
  return Math.max(baseMs, Math.min(baseMs * 2 ** Math.max(failures - 1, 0), MAX_BACKOFF_MS));
}

export const MIN_REMINDER_MS = 60_000;
export const MAX_REMINDER_MS = 3_600_000;

/** What lasts is said again after 1 min, 2 min, 4 min and so on, then once an hour. `saidAt`: when it was said last. */
export function nextReminderAt(beganAt: number, saidAt: number): number {
  const forMs = saidAt - beganAt;
  return saidAt + Math.min(Math.max(MIN_REMINDER_MS - forMs, forMs), MAX_REMINDER_MS);
}
