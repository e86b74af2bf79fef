import { describe, expect, it } from '@jest/globals';
import { whyNotLasting } from './class-names.js';
import { MYSQL2, PG, unknownTo } from './client-words.js';
import { connectionFix } from './connections.js';
import { cronFix, cronOddity, noTextFix } from './crons.js';
import { durationFix } from './durations.js';
import { JOB_WORDS, LOCK_WORDS, MODULE_WORDS } from './option-words.js';
import { otherServer } from './servers.js';
import { didYouMean } from './suggest.js';
import { timeZoneFix } from './time-zones.js';
import { asTextFix, valueFix } from './values.js';
import { misspeltVariables, platformFix } from './variables.js';

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

/** What is no text in a table of texts. */
const VALUES = new Map<string, unknown>([
  ['undefined', undefined],
  ['true', true],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['10000.5', 10_000.5],
  ['"shop"', '"shop"'],
  ['a list', ['0 3 * * *', '0 15 * * *']],
]);

/** A text may have quotes around it, and a line break as in JSON. */
function valueOf(given: string): unknown {
  if (VALUES.has(given)) return VALUES.get(given);
  return JSON.parse(`"${given.replaceAll(/^'|'$/g, '')}"`);
}

advises(
  'a value of any option',
  (given) => valueFix(valueOf(given)),
  `
  ''                → it is empty: set the variable that it comes from, or write || in place of ??, which keeps ''
  NaN               → look where it is computed; Number(undefined) is NaN
  'shop\\n'          → it ends in a line break, as a file does: trim it
  'shop '           → it has a space at an end: trim it
  ' shop'           → it has a space at an end: trim it
  'undefined'       → it was made of a value that was not there yet
  [object Object]   → it was made of a value that was not there yet
  \${REDIS_URL}      → it is the name of a variable, which nothing has replaced
  $REDIS_URL        → it is the name of a variable, which nothing has replaced
  "shop"            → it has quotes around it: leave them out
  shop              →
  undefined         →
  `,
);

advises(
  'a value that is no text',
  (given) => asTextFix(valueOf(given)),
  `
  10000.5   → write String(10000.5)
  undefined →
  `,
);

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

// what they say stands in their tables; names of one row have one sentence
advises(
  'an option that the module does not have',
  (name) => MODULE_WORDS[name],
  'isGlobal → leave it out, because the module is global',
);

advises(
  'an option that a job does not have',
  (name) => JOB_WORDS[name],
  'ttl → set lockExpiry: how long a job has no leader after a crash. It is renewed, so a run may be longer. To limit a run set timeout',
);

advises(
  'an option that a lock does not have',
  (name) => LOCK_WORDS[name],
  'tenant → it belongs into the first argument, the key',
);

advises(
  'a text that is no URL of a store',
  connectionFix,
  `
  c1.redis.cache.windows.net:6380,password=S3cr3t=,ssl=True,abortConnect=False → write 'rediss://:KEY@c1.redis.cache.windows.net:6380', the key by encodeURIComponent()
  cache:6379,password=S3cr3t         → write 'redis://:KEY@cache:6379', the key by encodeURIComponent()
  host=db user=app password=hunter2  → these are fields of libpq: write 'postgresql://user:password@host/database'
  Server=db;Database=shop;Password=x → these are fields of .NET: write a URL, such as 'postgresql://user:password@host/database' or 'mysql://user:password@host/database'
  jdbc:postgresql://db/shop          → leave out jdbc:, and put user and password before the host, as in //user:password@host
  redis-cli -h cache -a S3cr3t       → this is a command: write 'redis://host:6379'
  psql -h db shop                    → this is a command: write 'postgresql://user:password@host/database' or 'mysql://user:password@host/database'
  postgresql://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write → it names several hosts, and pg takes one: name the primary, or a proxy that leads to it
  mysql://h1:3306,h2:3306/db         → it names several hosts, and mysql2 takes one: name the primary, or a proxy that leads to it
  redis://a,redis://b                → for a cluster write { nodes: ['redis://a', 'redis://b'] }, for Sentinel { sentinels: [{ host, port }], name: 'mymaster' }
  redis://app:a,b@cache/main         →
  redis://h?password=a+b=            → write it as %2B, because + is a space there
  memory                             → set store: 'memory' for one process, as no other one would see it
  redis+tls://cache:6380             → write rediss:// in its place
  postgresql+asyncpg://app:pw@db     → leave out the driver, as in postgresql://
  redis:///cache:6379                → write redis:// in front of the host
  mysql:db/shop                      → write mysql:// in front of the host
  redis://app:pw@::1:6379            → put an address of IPv6 into brackets, as in 'redis://[::1]:6379'
  sqlite::memory:                    → set store: 'memory' for one process, as no other one would see it
  sqlite:///./jobs.db                → write 'sqlite:./jobs.db'
  sqlite:///jobs.db                  → write 'sqlite:./jobs.db' for the working directory, or 'sqlite:/jobs.db' for the root of the disk
  file:./dev.db                      → write 'sqlite:./jobs.db', with sqlite: in front
  jobs.sqlite                        → write 'sqlite:./jobs.db', with sqlite: in front
  /run/redis.sock                    → write { path } for a socket of Redis
  db:5432                            → write 'postgresql://user:password@db:5432/database'
  db:3306                            → write 'mysql://user:password@db:3306/database'
  cache:6379                         → write 'redis://cache:6379'
  mongodb://app:pw@db/shop           →
  hunter2                            →
  `,
);

/** Connections that are objects, by what they are. */
const OBJECTS: Readonly<Record<string, unknown>> = {
  'a URL object': new URL('redis://cache'),
  'a promise': Promise.resolve('redis://cache'),
  'a list': ['redis://a', 'redis://b'],
  'Redis within': { redis: { host: 'cache' } },
  'a file': { filename: './jobs.db' },
  'a client of node-redis': {
    isOpen: false,
    connect: () => undefined,
    duplicate: () => undefined,
    sendCommand: () => undefined,
  },
  'a pool of pg': { totalCount: 0, connect: () => undefined, options: {} },
  'a pool of mysql2': { getConnection: () => undefined, config: {} },
  'options of BullMQ': { connection: { host: 'cache', port: 6379 } },
  'options of TypeORM for SQLite': { type: 'better-sqlite3', database: 'jobs.db' },
  'a DataSource of TypeORM': { options: { type: 'postgres' }, initialize: () => undefined },
  'options of Sequelize': { dialect: 'mariadb', host: 'db' },
  'options of Knex': { client: 'pg' },
  'options of Redis': { host: 'cache' },
};

advises(
  'an object that is no connection, such as',
  (given) => connectionFix(OBJECTS[given]),
  `
  a URL object                  → pass its href
  a promise                     → await it, or pass the function that makes it
  a list                        → for a cluster write { nodes: ['redis://a', 'redis://b'] }, for Sentinel { sentinels: [{ host, port }], name: 'mymaster' }
  Redis within                  → leave out the inner redis, as in connection: { host, port }
  a file                        → write 'sqlite:./jobs.db'
  a client of node-redis        → take one of ioredis, or write its URL, as in 'redis://host:6379'
  a pool of pg                  → write { postgres: pool }
  a pool of mysql2              → a pool of mysql2 is not used: write { mysql: { host, user, password, database } }
  options of BullMQ             → leave out the inner connection, as in connection: { host, port }
  options of TypeORM for SQLite → write 'sqlite:./jobs.db'
  a DataSource of TypeORM       → write { postgres: { host, user, password, database } }
  options of Sequelize          → write { mysql: { host, user, password, database } }
  options of Knex               → write { postgres: { host, user, password, database } }
  options of Redis              →
  `,
);

const SET = 'is set, and SINGLETON_JOB_ENABLED is not: to switch all jobs off, set SINGLETON_JOB_ENABLED=false';

advises(
  'a variable that may be meant for SINGLETON_JOB_ENABLED, while that is not set,',
  (given) => {
    const variables = given.split(' ').map((variable) => variable.split('='));
    return misspeltVariables(Object.fromEntries(variables) as Record<string, string>, 'SINGLETON_JOB_ENABLED').join();
  },
  `
  SINGLETON_JOBS_ENABLED=false  → SINGLETON_JOBS_ENABLED ${SET}
  SINGLETON_JOB_ENABLE=false    → SINGLETON_JOB_ENABLE ${SET}
  singleton_job_enabled=0       → singleton_job_enabled ${SET}
  SINGELTON_JOB_ENABLED=no      → SINGELTON_JOB_ENABLED ${SET}
  SINGLETON_JOB_ENABLE=         →
  singleton_job_enabled=true    →
  SINGLETON_JOB2_ENABLED=false  →
  SINGLETON_JOB_DISABLED=false  →
  X_SINGLETON_JOB_ENABLED=false →
  SINGLETON_JOB_ENABLED_X=false →
  SINGLETON_JOBS_ENABLED=false SINGLETON_JOB_ENABLED=     → SINGLETON_JOBS_ENABLED ${SET}
  SINGLETON_JOBS_ENABLED=false SINGLETON_JOB_ENABLED=true →
  `,
);

const AT_RUN_TIME = 'the class got its name at run time, as from mixin() of @nestjs/common';

advises(
  'a class by its name, its name when its job was decorated (- for no such job), and its source,',
  (given) => {
    const [name = '', declared, source = ''] = given.split(/ *\| */);
    return whyNotLasting(name, declared === '-' ? undefined : declared, source.replace('\\n', '\n'));
  },
  `
  Prices | Prices | class {}                    →
  Base64Prices | - | class Base64Prices {}      →
  Job | Job | class Job {\\n}                   →
  Prices | - | class {}                         →
  aBc | aBc | class{}                           → the class name 'aBc' looks like that of a minifier
  tx | tx |                                     → the class name 'tx' looks like that of a minifier
  Prices2 | Prices2 | class Prices2 {}          → the class name 'Prices2' looks like one that a bundler has changed
  _Prices | _Prices | class _Prices {}          → the class name '_Prices' looks like one that a bundler has changed
  prices_Prices | prices_Prices | class{}       → the class name 'prices_Prices' looks like one that a bundler has changed
  Prices-1f3a | Prices | class Prices {}        → ${AT_RUN_TIME}
  Prices | | class {}                           → ${AT_RUN_TIME}
  Prices_1f3a | - | class {}                    → ${AT_RUN_TIME}
                                                → the class has no name
  `,
);

/** What servers say first, by their names. */
const ANSWERS: Readonly<Record<string, string>> = {
  MySQL: 'J\0\0\0\n8.0.36\0',
  'MySQL, full': '\x17\0\0\0\xff\x10\x04Too many connections',
  PostgreSQL: 'N',
  Redis: '-NOAUTH Authentication required.',
  HTTP: 'HTTP/1.1 400 Bad Request',
  nothing: '',
  SSH: 'SSH-2.0-OpenSSH_9.2',
};

advises(
  'a port where another server answers,',
  (given) => {
    const [store = '', server = ''] = given.split(': ');
    return otherServer(store, ANSWERS[server] ?? '');
  },
  `
  Redis: MySQL      → a server at this port speaks MySQL: write 'mysql://user:password@host/database', or check host and port
  Redis: MySQL, full → a server at this port speaks MySQL: write 'mysql://user:password@host/database', or check host and port
  MySQL: PostgreSQL → a server at this port speaks PostgreSQL: write 'postgresql://user:password@host/database', or check host and port
  PostgreSQL: Redis → a server at this port speaks Redis: write 'redis://host:6379', or check host and port
  MySQL: HTTP       → a server at this port speaks HTTP: this is no database, or check host and port
  Redis: Redis      →
  Redis: nothing    →
  Redis: SSH        →
  `,
);

const ALL = 'write host, port, database, user and password, or';

advises(
  'an option that pg does not have',
  (option) => unknownTo(PG, option),
  `
  username   → is no option of pg: write user
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
  est            → ${LETTERS}
  GMT+2          → ${OFFSET}, or write 'Etc/GMT-2', where the sign is the other way round
  -08:00         → ${OFFSET}, or write 'Etc/GMT+8', where the sign is the other way round
  +05:30         → ${OFFSET}
  Europe/Berln   → did you mean 'Europe/Berlin'?
  Mars/Phobos    → use a name such as 'UTC' or 'Asia/Singapore'
  `,
);

const BEFORE_ENV =
  'give it. A file such as .env is read after decorators run: write the usual one here, and set another by jobs of the ' +
  'module or by a variable such as SINGLETON_JOB_JOBS__NAME__CRON, __PERIOD or __DELAY';

advises(
  'a duration that is none',
  (given) => durationFix(valueOf(given)),
  `
  undefined → ${BEFORE_ENV}
  30        → add a unit, as in '30s' or '30ms'
  -1s       → it cannot be negative
  0 3 * * * → a cron expression belongs in @Cron
  10000.5   → round it to whole milliseconds
  Infinity  → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  long      → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  1M        → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  P1M       → write it as 500, '500ms', '3s', '5m', '2h' or '1d'
  5 sec     → write '5s'
  10 s      → write '10s'
  3S        → write '3s'
  1.5s      → write '1500ms'
  1h30m     → write '90m'
  1 hour and 30 minutes → write '90m'
  PT1H30M   → write '90m'
  1w        → write '7d'
  20 milliseconds → write '20ms'
  `,
);

advises(
  'a cron expression that is no text',
  (given) => noTextFix(valueOf(given)),
  `
  undefined → ${BEFORE_ENV}
  10000.5   → for a number of milliseconds use @FixedRate or @Interval
  a list    → put one decorator for each expression above the method, each with a name
  true      → use five or six fields, as in '0 3 * * *'
  `,
);

const NAMED_ZONE = "the option timeZone with a name such as 'UTC' or 'Europe/Berlin'";

advises(
  'a cron expression of another program',
  cronFix,
  `
  @reboot                         → add firstRun: 'now' to a job, or use a Nest lifecycle hook
  CRON_TZ=Asia/Calcutta 0 8 * * * → write '0 8 * * *' and the option timeZone: 'Asia/Calcutta'
  0 22 * * * Europe/Zagreb        → write '0 22 * * *' and the option timeZone: 'Europe/Zagreb'
  0 22 * * * EST                  → write '0 22 * * *' and ${NAMED_ZONE}
  0 0 22 * * * GMT+2              → write '0 0 22 * * *' and ${NAMED_ZONE}
  0 22 * * SAT                    →
  @every 1h30m                    → write a period, as in @FixedRate('90m')
  rate(5 minutes)                 → write a period, as in @FixedRate('5m')
  every day at 9pm                → write '0 21 * * *', for a weekday with one such as MON in place of the last *
  Mon *-*-* 03:05:00              → write '5 3 * * *', for a weekday with one such as MON in place of the last *
  12 am                           → write '0 0 * * *', for a weekday with one such as MON in place of the last *
  "0 3 * * *"                     → it has quotes around it: leave them out
  Every hour                      → write a period, as in @FixedRate('1h')
  every 2 months                  → write a period, as in @FixedRate('5m')
  0 0 0 1 1 * 2027                → leave the year out, as in '0 0 0 1 1 *'
  0 12 1 1 * 2027                 → leave the year out, as in '0 12 1 1 *'
  0 10 * * ? *                    → leave the year out, as in '0 10 * * *'
  cron(15 10 ? * 2-6 *)           → leave the year out, as in '15 10 * * MON-FRI'
  0 0 12 ? * 6L 2027              → leave the year out, as in '0 0 12 * * FRIL'
  0 0 9 ? * 2,4                   → 1 is Monday here and in Spring, and Sunday in Quartz and AWS. Write '0 0 9 * * TUE,THU' or '0 0 9 * * MON,WED'
  61 * * * *                      →
  `,
);

advises(
  'a cron expression with characters that only look right,',
  cronFix,
  `
  0 3 * * 1–5      → it has '–' (U+2013) in place of '-', write '0 3 * * 1-5'
  0 3 * * 1−5      → it has '−' (U+2212) in place of '-', write '0 3 * * 1-5'
  ０ ３ ＊ ＊ ＊   → it has '０' (U+FF10) in place of '0', write '0 3 * * *'
  0 3 ∗ ∗ ∗        → it has '∗' (U+2217) in place of '*', write '0 3 * * *'
  ∕5 3 * * *       → it has '∕' (U+2215) in place of '/', write '/5 3 * * *'
  0 3，4 * * *     → it has '，' (U+FF0C) in place of ',', write '0 3,4 * * *'
  0 3 * * МON      → it has 'М' (U+041C) in place of 'M', write '0 3 * * MON'
  0 3 * * 夏       →
  0\u200b 3 * * *  → it has an invisible U+200B, write '0 3 * * *'
  `,
);

advises(
  'a field of a cron expression',
  (field) => cronFix('', field),
  `
  H           → write a number, and jitter to spread jobs
  0~59        → write a number, and jitter to spread jobs
  15W         → the nearest weekday (W) is not supported
  LW          → the nearest weekday (W) is not supported
  L-1         → L is the last day, and days before it cannot be written
  ?           → write *, because ? is for a day only
  MON#1,TUE#2 → # must stand alone, with a number from 1 to 5
  */90        → a step must be at least 1 and cannot be longer than the field, use @FixedRate instead
  22-2        → a range must go up between two valid values, as in 22-23,0-2 for 22-2
  5,5         → every element must be valid and no value may come twice (0, 7 and SUN are the same day)
  61          →
  `,
);

advises(
  'a job at a time that may surprise, by its six fields,',
  (fields) => cronOddity(fields.split(' ')),
  `
  * 43 * * * *     → runs every second while 43 matches. If once is meant, write 0 for each * before it
  0 * */2 * * *    → runs every minute while */2 matches. If once is meant, write 0 for each * before it
  0 */59 * * * *   → begins */59 again at 0, so its last step is shorter. For even ones use @FixedRate
  0 0 */5 * * *    → begins */5 again at 0, so its last step is shorter. For even ones use @FixedRate
  0 0 3 * * *      →
  */15 * * * * *   →
  0 * 9-17 * * 1-5 →
  0 0 */6 * * *    →
  0 0 0 */2 * *    → begins */2 again on the 1st, so its last step is shorter: the 31st and the 1st are two days in a row. For even ones use @FixedRate
  0 0 0 */4 * *    → begins */4 again on the 1st, so its last step is shorter. For even ones use @FixedRate
  0 0 9 1-7 * 1    → runs on each day that is 1-7, and on each weekday that is 1. If both must match, write 1#1 for that weekday of the month
  0 0 9 1-7 * 1-5  → runs on each day that is 1-7, and on each weekday that is 1-5. If both must match, let the option only decide
  0 0 9 13 * FRI   → runs on each day that is 13, and on each weekday that is FRI. If both must match, let the option only decide
  0 0 9 1 1 *      →
  `,
);

const FROZEN =
  'freezes this process between requests, so its jobs lose their leases and runs are aborted. ' +
  'Set SINGLETON_JOB_ENABLED=false here, and run the jobs in a process that lasts';

advises(
  'a platform, by a variable that it sets,',
  (given) => platformFix({ [given]: '1' }),
  `
  AWS_LAMBDA_FUNCTION_NAME → AWS Lambda ${FROZEN}
  VERCEL                   → Vercel ${FROZEN}
  K_SERVICE                →
  `,
);
