const MAX_BACKOFF_MS = 30_000;

/**
 * The wait after so many failures in a row: it doubles with each after the first, up to 30 s or to `baseMs`, if that is
 * longer.
 */
export function backoffMs(baseMs: number, failures: number): number {
  return Math.max(baseMs, Math.min(baseMs * 2 ** Math.max(failures - 1, 0), MAX_BACKOFF_MS));
}
