/**
 * How long before its lock expires a leader stops trusting it: a tenth of `lockExpiry`, at least 25 ms. It is the time
 * that a run has to settle after its signal fired so that it cannot overlap with another replica's, and what covers
 * the drift between this clock and that of Redis.
 */
export function safetyMarginMs(lockExpiryMs: number): number {
  return Math.max(lockExpiryMs / 10, 25);
}

/**
 * How long one request about a lock may stay unanswered until it counts as unknown and is repeated: a fifth of
 * `lockExpiry`, at most a second, so that a lease outlives several lost answers.
 */
export function attemptDeadlineMs(lockExpiryMs: number): number {
  return Math.min(1_000, lockExpiryMs / 5);
}

/**
 * How late an occurrence of a cron job may start if neither the job nor the module says: long enough for a leader to
 * drain, or to be killed and its lock to expire, and for the next one to bid, with a lock expiry to spare.
 */
export function defaultMisfireGraceMs(
  options: { readonly shutdownTimeoutMs: number; readonly heartbeatIntervalMs: number },
  lockExpiryMs: number,
): number {
  return options.shutdownTimeoutMs + 2 * lockExpiryMs + options.heartbeatIntervalMs;
}
