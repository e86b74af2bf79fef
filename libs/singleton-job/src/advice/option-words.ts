/** By the name of an option that there is not, what to do instead. */
export type OptionWords = Readonly<Record<string, string>>;

const IN_CONNECTION =
  "set connection, as in connection: 'redis://host:6379' or connection: 'postgresql://user:password@host/database'";

/** Options of the module. */
export const MODULE_WORDS: OptionWords = {
  ...sameFor('redis postgres url host port user username password database', IN_CONNECTION),
  keyPrefix: 'the keys begin with projectName, so set that instead',
  nodes: "the nodes of a cluster belong in connection, as in connection: { nodes: ['redis://host:6379'] }",
  disabled: 'say enabled: false',
};

const FIRST_RUN =
  "write firstRun: 'now' for @Cron or @Interval: once on all replicas, with version also after a deploy";
const ONLY = 'let only of @Cron decide, as in only: (date) => date < END';

/** Options of a job, such as those of `@nestjs/schedule`. */
export const JOB_WORDS: OptionWords = {
  disabled: 'write enabled with the opposite value, as in enabled: false',
  waitForCompletion:
    "leave it out, because runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight",
  tz: "did you mean 'timeZone'?",
  utcOffset: "name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time",
  threshold: 'misfireGrace says how late an occurrence may start; leave it out or use that',
  ...sameFor('runOnInit immediate immediately', FIRST_RUN),
  ...sameFor('startDate endDate', ONLY),
  limit: 'count the runs in your database, and call pause() of SingletonJobRegistry after the last one',
  unrefTimeout: 'no timer keeps the process alive after app.close(); leave it out',
};

/** Options of a lock. */
export const LOCK_WORDS: OptionWords = sameFor(
  'expiry lockExpiry ttl lockAtMostFor',
  'a lock lives as long as the lease of its replica, so set lockExpiry of the module',
);

function sameFor(names: string, fix: string): OptionWords {
  return Object.fromEntries(names.split(' ').map((name) => [name, fix]));
}
