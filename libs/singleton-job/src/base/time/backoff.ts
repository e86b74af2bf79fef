export interface BackoffPolicy {
  readonly heartbeatIntervalMs: number;
  readonly maxBackoffDelayMs: number;
}

/** min(heartbeatInterval × 2^failures, maxBackoffDelay), ±20 % jitter, never above the ceiling. `random` is in [0, 1). */
export function backoffMs(failures: number, policy: BackoffPolicy, random: () => number): number {
  const exponentialMs = Math.min(policy.heartbeatIntervalMs * 2 ** failures, policy.maxBackoffDelayMs);
  return Math.min(exponentialMs * (0.8 + 0.4 * random()), policy.maxBackoffDelayMs);
}
