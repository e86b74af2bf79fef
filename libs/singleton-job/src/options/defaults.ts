/** The defaults of options. The default of `nodeId` comes from the environment, that of `misfireGrace` from other options. */
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

/** The smallest and largest values of options. */
export const LIMITS = Object.freeze({
  heartbeatIntervalMs: 50,
  lockExpiryMs: 500,
  longestLockExpiryMs: 86_400_000,
  /** `lockExpiry` ÷ `heartbeatInterval`: a session outlives two lost heartbeats. */
  heartbeatsPerExpiry: 3,
  /** A second to wait for runs, a second after aborting them, and a second to release the locks. */
  shutdownTimeoutMs: 3_000,
});
