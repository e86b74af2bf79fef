/**
 * What other work on a machine may add to what replicas on it promise: a core that is taken away for seconds, now and
 * then.
 */
export const SLACK_MS = 4_000;

/**
 * How long to wait for what is sure to come: processes alone may take half a minute to start where ten others want the
 * same core.
 */
export const PATIENCE_MS = 90_000;

/** An answer that took too long. That happens on a busy machine without any fault. */
export const SILENT = /no answer within/;

/** The log lines of a replica about a blocked event loop, and about ticks that came due meanwhile. */
export const LATE = /the event loop of .* was blocked for| missed \d+ occurrence| dropped (the tick|\d+ ticks)/;
