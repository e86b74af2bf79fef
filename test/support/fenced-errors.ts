/** A later leader has written: this run is over, and there is nothing to repeat. */
export class StaleLeaderError extends Error {}
