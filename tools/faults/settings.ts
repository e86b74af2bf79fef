import { safetyMarginMs } from '../../libs/singleton-job/src/options/index.js';

/** Short leases, so that a fault that outlives one takes seconds. */
export const LOCK_EXPIRY_MS = 2_000;
export const HEARTBEAT_INTERVAL_MS = 500;
export const SHUTDOWN_TIMEOUT_MS = 4_000;
export const SAFETY_MARGIN_MS = safetyMarginMs(LOCK_EXPIRY_MS);

/**
 * What a busy machine may be late by: the event loop of a replica that stands still for a heartbeat says so, and what is
 * shorter, and what comes on top, is nobody's fault.
 */
export const TOLERANCE_MS = 1.5 * HEARTBEAT_INTERVAL_MS;

export { PATIENCE_MS } from '../../test/support/busy-machine.js';

/** A time within which a job must be led again, and the promise it is made of. */
export interface Bound {
  readonly ms: number;
  readonly formula: string;
}

/** Nothing was lost, or it was handed over. */
export const GRACEFUL: Bound = { ms: 1_000, formula: '1 s' };
/** A leader vanished without a word, or the state of the locks did. */
export const LEASE: Bound = { ms: LOCK_EXPIRY_MS + 1_000, formula: 'lockExpiry + 1 s' };
/** Counted from the end of an outage: the probe that finds out, and the promise. */
export const BACK: Bound = { ms: HEARTBEAT_INTERVAL_MS + 1_000, formula: 'probe + 1 s' };
