/** The instants of a cron expression in a time zone, forwards and backwards. Whole seconds, without state. */
export interface Occurrences {
  /** The first one after `previous`; undefined if there is none any more. */
  readonly next: (previous: number) => number | undefined;
  /** The last one at or before `upTo`; undefined if there never was one. */
  readonly latest: (upTo: number) => number | undefined;
}
