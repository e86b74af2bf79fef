/** What an option is when it is left out. `nodeId` comes from the environment and `misfireGrace` from the others. */
export const DEFAULTS = Object.freeze({
  heartbeatIntervalMs: 3_000,
  lockExpiryMs: 10_000,
  maxBackoffDelayMs: 30_000,
  shutdownTimeoutMs: 8_000,
  warnAfterMs: 8_000,
  timeZone: 'UTC',
  enabled: true,
  ignoreUnknownJobs: false,
  allowInMemoryStore: false,
  overlap: 'skip',
  initialDelayMs: 0,
});

/** What an option must be at least, and at most. */
export const LIMITS = Object.freeze({
  heartbeatIntervalMs: 50,
  lockExpiryMs: 500,
  longestLockExpiryMs: 86_400_000,
  /** `lockExpiry` over `heartbeatInterval`: a session outlives two lost heartbeats. */
  heartbeatsPerExpiry: 3,
  /** A second for runs, one after aborting them, and one to release. */
  shutdownTimeoutMs: 3_000,
});
