import { describe, expect, it } from '@jest/globals';
import { MYSQL2, PG, unknownTo } from './client-words.js';
import { durationFix } from './durations.js';
import { JOB_WORDS, LOCK_WORDS, MODULE_WORDS } from './option-words.js';
import { didYouMean } from './suggest.js';
import { timeZoneFix } from './time-zones.js';

/** Tests each row of a table: what was given, and the sentence about it, or nothing. */
function advises(what: string, advise: (given: string) => string | undefined, table: string): void {
  const rows = table.trim().split('\n');
  const cells = rows.map((row) => row.split('→').map((cell) => cell.trim()) as [given: string, sentence: string]);
  describe(what, () => {
    it.each(cells)("such as '%s' has its sentence", (given, sentence) => {
      expect(advise(given) ?? '').toBe(sentence);
    });
  });
}

const KNOWN = ['lockExpiry', 'timeZone', 'timeout', 'jobs', 'store'];

advises(
  'a word that is none of those that are known',
  (word) => didYouMean(word, KNOWN, 'see the list'),
  `
  lockExpiri   → did you mean 'lockExpiry'?
  lockexpiry   → did you mean 'lockExpiry'?
  lockExpiryMs → did you mean 'lockExpiry'?
  timezone     → did you mean 'timeZone'?
  timeOut      → did you mean 'timeout'?
  job          → did you mean 'jobs'?
  interceptors → see the list
  redis        → see the list
  x            → see the list
               → see the list
  `,
);

advises(
  'an option that the module does not have',
  (name) => MODULE_WORDS[name],
  `
  url       → set connection, as in connection: 'redis://host:6379' or connection: 'postgresql://user:password@host/database'
  keyPrefix → the keys begin with projectName, so set that instead
  nodes     → the nodes of a cluster belong in connection, as in connection: { nodes: ['redis://host:6379'] }
  disabled  → say enabled: false
  `,
);

advises(
  'an option that a job does not have',
  (name) => JOB_WORDS[name],
  `
  disabled          → write enabled with the opposite value, as in enabled: false
  waitForCompletion → leave it out, because runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight
  tz                → did you mean 'timeZone'?
  utcOffset         → name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time
  threshold         → misfireGrace says how late an occurrence may start; leave it out or use that
  runOnInit         → write firstRun: 'now' for @Cron or @Interval: once on all replicas, with version also after a deploy
  endDate           → let only of @Cron decide, as in only: (date) => date < END
  limit             → count the runs in your database, and call pause() of SingletonJobRegistry after the last one
  unrefTimeout      → no timer keeps the process alive after app.close(); leave it out
  `,
);

advises(
  'an option that a lock does not have',
  (name) => LOCK_WORDS[name],
  `
  lockAtMostFor → a lock lives as long as the lease of its replica, so set lockExpiry of the module
  `,
);

const ALL = 'write host, port, database, user and password, or';

advises(
  'an option that pg does not have',
  (option) => unknownTo(PG, option),
  `
  username   → is no option of pg: write user
  pass       → is no option of pg: write password
  pwd        → is no option of pg: write password
  hostname   → is no option of pg: write host
  dbname     → is no option of pg: write database
  url        → is no option of pg: write connectionString
  databse    → is no option of pg: did you mean 'database'?
  replicaSet → is no option of pg: ${ALL} connectionString, or pass a Pool of pg, whose options are not checked
  `,
);

advises(
  'an option that mysql2 does not have',
  (option) => unknownTo(MYSQL2, option),
  `
  connectionString → is no option of mysql2: write uri
  replicaSet       → is no option of mysql2: ${ALL} uri
  `,
);

const LETTERS = "such letters have several meanings or no summer time, so name a place, as in 'America/New_York'";
const OFFSET = "an offset knows no summer time, so name a place, as in 'Europe/Berlin'";

advises(
  'a time zone that there is not',
  timeZoneFix,
  `
  BST            → ${LETTERS}
  est            → ${LETTERS}
  GMT+2          → ${OFFSET}, or write 'Etc/GMT-2', where the sign is the other way round
  -08:00         → ${OFFSET}, or write 'Etc/GMT+8', where the sign is the other way round
  +05:30         → ${OFFSET}
  Europe/Berln   → did you mean 'Europe/Berlin'?
  Asia/Singapor  → did you mean 'Asia/Singapore'?
                 → use a name such as 'UTC' or 'Asia/Singapore'
  `,
);

/** What is no text in a table of texts. */
const VALUES = new Map<string, unknown>([
  ['undefined', undefined],
  ['true', true],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['10000.5', 10_000.5],
]);

advises(
  'a duration that is none',
  (given) => durationFix(VALUES.has(given) ? VALUES.get(given) : given),
  `
            → give it a value, or leave the option out
  undefined → give it
  30        → add a unit, as in '30s' or '30ms'
  -1s       → it cannot be negative
  0 3 * * * → a cron expression belongs in @Cron
  NaN       → look where it is computed; Number(undefined) is NaN
  10000.5   → round it to whole milliseconds
  Infinity  → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  true      → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  5 sec     → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  `,
);
