export interface BackoffPolicy {
  readonly heartbeatIntervalMs: number;
}

const MOST_BACKOFF_MS = 30_000;

/** heartbeatInterval × 2^failures, ±20 % jitter, 30 s at most. `random` is in [0, 1). */
export function backoffMs(failures: number, policy: BackoffPolicy, random: () => number): number {
  const exponentialMs = Math.min(policy.heartbeatIntervalMs * 2 ** failures, MOST_BACKOFF_MS);
  return Math.min(exponentialMs * (0.8 + 0.4 * random()), MOST_BACKOFF_MS);
}
