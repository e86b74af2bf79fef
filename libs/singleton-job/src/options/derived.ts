import { DEFAULTS } from './defaults.js';

/** How often a replica sends heartbeats if the module sets `lockExpiry` only: a quarter of it, 3 s at most. */
export function heartbeatIntervalFor(lockExpiryMs: number): number {
  return Math.min(DEFAULTS.heartbeatIntervalMs, Math.floor(lockExpiryMs / 4));
}

/**
 * How late an occurrence of a cron job may start if neither the job nor the module sets it: long enough for a leader to
 * drain, or to be killed and its session to end, and for the next one to take over, with a lock expiry to spare.
 */
export function defaultMisfireGraceMs(
  options: { readonly shutdownTimeoutMs: number; readonly heartbeatIntervalMs: number },
  lockExpiryMs: number,
): number {
  return options.shutdownTimeoutMs + 2 * lockExpiryMs + options.heartbeatIntervalMs;
}
