import { DEFAULTS } from './defaults.js';

/** The heartbeat interval if the module sets only `lockExpiry`: a quarter of it, at most 3 s. */
export function heartbeatIntervalFor(lockExpiryMs: number): number {
  return Math.min(DEFAULTS.heartbeatIntervalMs, Math.floor(lockExpiryMs / 4));
}

/**
 * The misfire grace of a cron job if neither the job nor the module sets it. It is long enough for a leader to drain, or for the session
 * of a killed leader to end, and for the next leader to take over, with one `lockExpiry` to spare.
 */
export function defaultMisfireGraceMs(
  options: { readonly shutdownTimeoutMs: number; readonly heartbeatIntervalMs: number },
  lockExpiryMs: number,
): number {
  return options.shutdownTimeoutMs + 2 * lockExpiryMs + options.heartbeatIntervalMs;
}
