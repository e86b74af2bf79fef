/** What an option is when it is left out. `nodeId` comes from the environment and `misfireGrace` from the others. */
export const DEFAULTS = Object.freeze({
  heartbeatIntervalMs: 3_000,
  lockExpiryMs: 10_000,
  maxBackoffDelayMs: 30_000,
  shutdownTimeoutMs: 8_000,
  timeZone: 'UTC',
  enabled: true,
  ignoreUnknownJobs: false,
  allowInMemoryStore: false,
  overlap: 'skip',
  initialDelayMs: 0,
});

/** The least that an option may be. */
export const LIMITS = Object.freeze({
  heartbeatIntervalMs: 50,
  lockExpiryMs: 250,
  /** `lockExpiry` over `heartbeatInterval`: two renewals may be lost before the lease is. */
  renewalsPerExpiry: 3,
  /** A second for runs, one after aborting them, and one to release. */
  shutdownTimeoutMs: 3_000,
});
