import { type CronSchedule } from '../schedule.js';

/** The instants of a cron expression in a time zone, forwards and backwards. Whole seconds, without state. */
export interface Occurrences {
  /** The first one after `previous`; undefined if there is none any more. */
  readonly next: (previous: number) => number | undefined;
  /** The last one at or before `upTo`; undefined if there never was one. */
  readonly latest: (upTo: number) => number | undefined;
}

/** The questions that a schedule answers about its occurrences. */
export function windowsOf({ next, latest }: Occurrences): Pick<CronSchedule, 'next' | 'latest' | 'count'> {
  return {
    next,
    latest: (after, upTo) => {
      const newest = latest(upTo);
      return newest !== undefined && newest > after ? newest : undefined;
    },
    count: (after, upTo, limit) => {
      let count = 0;
      for (let at = next(after); at !== undefined && at <= upTo && count < limit; at = next(at)) count++;
      return count;
    },
  };
}
