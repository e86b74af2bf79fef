import { afterEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';
import { problemsOf, startApplication } from '../support/nest-application.js';

type Row = readonly [mistake: string, options: Record<string, unknown>, problem: string];

const GOOD = { projectName: 'test', store: 'memory' } as const;

/** What start-up says to options that are good but for what is given. */
function mistakes(options: Record<string, unknown>): Promise<readonly string[]> {
  const all = { ...GOOD, ...options } as unknown as SingletonJobOptions;
  return problemsOf(startApplication({ imports: [SingletonJobModule.forRoot(all)] }));
}

const DURATION = "must be a duration such as 500 (milliseconds), '500ms', '3s' or '5m'";
const UNITS = "write it as 500, '500ms', '3s', '5m', '2h' or '1d'";
const NAME = 'must be a name without braces, colons, slashes, spaces and control characters';
const NODE = "must be a text, not empty, without '#', spaces and control characters";
const NODE_FIX = 'leave it out to use POD_NAME or the name of the host; a random part is appended';
const APP = "call it after the application, as in 'myapp'";
const URL_FIX = "write it as 'redis://host:6379', or 'rediss://host:6379' for TLS";
const UNENCODED = "connection must have no #, /, ? or single % before the '@', got";
const ENCODE = 'with one: encode user and password with encodeURIComponent()';
const FOREIGN =
  'is no option of ioredis, which would connect to localhost: ' +
  "pass the URL itself, as in connection: 'redis://host:6379', or write { host, port, db }";
const KINDS = 'a redis:// or rediss:// URL, options of ioredis, { nodes, options } of a cluster, or an ioredis client';
const PREFIX = 'is not supported: the keys begin with projectName, so set that instead';
const WORKER_FILE = "write it as './dist/heartbeat-thread.js', or leave it out unless the application is bundled";
const NO_CLONE =
  'must be a URL, or options without clients and functions, while heartbeatThread is set: ' +
  'a thread has its own connection, so pass a URL, or leave heartbeatThread out';
const NO_FUNCTION =
  'must not be a function while heartbeatThread is set: a thread has its own connection, and no function can be passed to it, ' +
  'so leave one of the two out';
const ZONE = "use a name such as 'UTC' or 'Asia/Singapore'";

const NAMES: Row[] = [
  ['no project', { projectName: undefined }, `projectName ${NAME}, got undefined: ${APP}`],
  ['an empty project', { projectName: '' }, `projectName ${NAME}, got '': ${APP}`],
  ['a colon in the project', { projectName: 'my:app' }, `projectName ${NAME}, got 'my:app': ${APP}`],
  ['braces in the project', { projectName: '{app}' }, `projectName ${NAME}, got '{app}': ${APP}`],
  ['a slash in the project', { projectName: 'my/app' }, `projectName ${NAME}, got 'my/app': ${APP}`],
  ['a line break in the project', { projectName: 'app\n' }, `projectName ${NAME}, got 'app\\n': ${APP}`],
  ['a # in the node id', { nodeId: 'node#1' }, `nodeId ${NODE}, got 'node#1': ${NODE_FIX}`],
  ['an empty node id', { nodeId: '' }, `nodeId ${NODE}, got '': ${NODE_FIX}`],
];

const DURATIONS: Row[] = [
  ['an empty duration', { lockExpiry: '' }, `lockExpiry ${DURATION}, got '': give it a value, or leave the option out`],
  [
    'a number in a string',
    { heartbeatInterval: '3000' },
    `heartbeatInterval ${DURATION}, got '3000': add a unit, as in '3000ms', or pass it as a number`,
  ],
  ['an unknown unit', { lockExpiry: '10 seconds' }, `lockExpiry ${DURATION}, got '10 seconds': ${UNITS}`],
  [
    'not a number',
    { lockExpiry: Number(undefined) },
    `lockExpiry ${DURATION}, got NaN: look where it is computed; Number(undefined) is NaN`,
  ],
  ['a fraction', { lockExpiry: 10_000.5 }, `lockExpiry ${DURATION}, got 10000.5: round it to whole milliseconds`],
  ['infinity', { maxBackoffDelay: Infinity }, `maxBackoffDelay ${DURATION}, got Infinity: ${UNITS}`],
  ['null', { lockExpiry: null }, `lockExpiry ${DURATION}, got null: ${UNITS}`],
  ['a negative grace', { misfireGrace: -1 }, 'misfireGrace must be at least 0ms, got -1ms: raise it'],
  [
    'a heartbeat of 10 ms',
    { heartbeatInterval: 10 },
    "heartbeatInterval must be at least 50ms, got 10ms: a number means milliseconds, write '10s' for seconds",
  ],
  [
    'a heartbeat of 10 ms as a text',
    { heartbeatInterval: '10ms' },
    'heartbeatInterval must be at least 50ms, got 10ms: raise it',
  ],
  [
    'a lock that expires at once',
    { heartbeatInterval: 50, lockExpiry: 400 },
    'lockExpiry must be at least 500ms, got 400ms: raise it',
  ],
  ['a lock that lives for ever', { lockExpiry: '25h' }, 'lockExpiry must be at most 1d, got 25h: lower it'],
  [
    'a lock that outlives one heartbeat only',
    { heartbeatInterval: '3s', lockExpiry: '4s' },
    'lockExpiry must be at least 3 × heartbeatInterval (9s), got 4s: raise lockExpiry or lower heartbeatInterval',
  ],
  [
    'a heartbeat too slow for the default lock',
    { heartbeatInterval: '5s' },
    'lockExpiry must be at least 3 × heartbeatInterval (15s), got the default of 10s: ' +
      'raise lockExpiry or lower heartbeatInterval',
  ],
  [
    'a back-off below the heartbeat',
    { maxBackoffDelay: '1s' },
    'maxBackoffDelay must be at least heartbeatInterval (3s), got 1s: raise maxBackoffDelay or lower heartbeatInterval',
  ],
  [
    'zero for never',
    { warnAfter: 0 },
    "warnAfter must be a duration such as '8s', or false, got 0: write false for never",
  ],
  [
    'true for a duration',
    { warnAfter: true },
    `warnAfter must be a duration such as '8s', or false, got true: ${UNITS}`,
  ],
  ['too little time to stop', { shutdownTimeout: '2s' }, 'shutdownTimeout must be at least 3s, got 2s: raise it'],
];

const BOOLEANS: Row[] = [
  [
    'false as a string',
    { enabled: 'false' },
    "enabled must be true or false, got 'false': convert the string first, as in process.env.NAME !== 'false'",
  ],
  [
    'false as a string and nowhere to run',
    { enabled: 'false', store: undefined },
    "enabled must be true or false, got 'false': convert the string first, as in process.env.NAME !== 'false'",
  ],
  [
    'another string and nowhere to run',
    { enabled: 'no', store: undefined },
    "enabled must be true or false, got 'no': convert the string first, as in process.env.NAME === 'true'",
  ],
  [
    'true as a string',
    { ignoreUnknownJobs: 'true' },
    "ignoreUnknownJobs must be true or false, got 'true': convert the string first, as in process.env.NAME === 'true'",
  ],
  [
    'a number for a boolean',
    { allowInMemoryStore: 1 },
    'allowInMemoryStore must be true or false, got 1: pass a boolean, or leave the option out',
  ],
];

const CONNECTIONS: Row[] = [
  [
    'neither connection nor store',
    { store: undefined },
    "connection must be given, got undefined: pass a Redis URL, and check the variable that it comes from; or enabled: false to run no jobs, or store: 'memory' for a single process",
  ],
  ['an empty URL', { connection: '' }, `connection must be a redis:// or rediss:// URL, got '': ${URL_FIX}`],
  [
    'a URL of another kind',
    { connection: 'http://user:secret@cache:6379?password=secret' },
    `connection must be a redis:// or rediss:// URL, got 'http://…@cache:6379?…': ${URL_FIX}`,
  ],
  [
    'a host and a port',
    { connection: 'localhost:6379' },
    `connection must be a redis:// or rediss:// URL, got 'localhost:6379': ${URL_FIX}`,
  ],
  ['a # in a password', { connection: 'redis://:s3c#ret@cache:6379' }, `${UNENCODED} 'redis://…@cache:6379' ${ENCODE}`],
  [
    'a # in a password of digits, which reads as a port',
    { connection: 'redis://user:12#3@cache:6379' },
    `${UNENCODED} 'redis://…@cache:6379' ${ENCODE}`,
  ],
  ['a / in a password', { connection: 'rediss://user:12/3@cache' }, `${UNENCODED} 'rediss://…@cache' ${ENCODE}`],
  ['a % in a password', { connection: 'redis://:100%@cache' }, `${UNENCODED} 'redis://…@cache' ${ENCODE}`],
  [
    'a database that is no number',
    { connection: 'redis://cache:6379/main' },
    "connection must end in the number of a database or in nothing, got 'redis://cache:6379/main': " +
      "write it as in 'redis://host:6379/0', or leave it out",
  ],
  ['a prefix in a URL', { connection: 'redis://cache?keyPrefix=x' }, `connection ?keyPrefix ${PREFIX}`],
  ['a URL among options', { connection: { url: 'redis://user:secret@cache' } }, `connection.url ${FOREIGN}`],
  ['options of another client', { connection: { socket: { host: 'cache' } } }, `connection.socket ${FOREIGN}`],
  [
    'a URL as a host',
    { connection: { host: 'redis://user:secret@cache' } },
    "connection.host must be a name or an address, got a URL: pass it as connection: 'redis://host:6379'",
  ],
  ['a prefix in options', { connection: { keyPrefix: 'x:' } }, `connection.keyPrefix ${PREFIX}`],
  [
    'a prefix in cluster options',
    { connection: { nodes: [7000], options: { redisOptions: { keyPrefix: 'x:' } } } },
    `connection.options.redisOptions.keyPrefix ${PREFIX}`,
  ],
  [
    'a port that is no number',
    { connection: { port: Number(undefined) } },
    'connection.port must be a port from 1 to 65535, got NaN: give it a value such as 6379, or leave it out; ' +
      'Number(undefined) is NaN',
  ],
  [
    'an empty host',
    { connection: { host: '' } },
    "connection.host must be the name or address of a host, got '': give it a value such as 'localhost', or leave it out",
  ],
  [
    'a cluster of no nodes',
    { connection: { nodes: [] } },
    'connection.nodes must be a list of at least one node, each a URL, a port or { host, port }, got an array: ' +
      "write it as [{ host: 'redis-0', port: 6379 }]",
  ],
  [
    'a client of another library',
    { connection: { connect: () => undefined } },
    `connection must be ${KINDS}, got an object: pass a URL instead, or a client of ioredis`,
  ],
  ['a port alone', { connection: 6379 }, `connection must be ${KINDS}, got 6379: ${URL_FIX}`],
];

const PARTS: Row[] = [
  [
    'a store that is none',
    { store: {} },
    'store must be a LockStore, got an object: implement heartbeat(), endSession(), acquire(), renew(), claim(), ' +
      'release(), setPaused(), publish(), addListener(), open(), close()',
  ],
  [
    'a URL for a store',
    { store: 'redis://user:secret@cache' },
    "store must be a LockStore or 'memory', got 'redis://…@cache': leave it out to use Redis, and set connection",
  ],
  [
    'observers without brackets',
    { observers: { runFailed: () => undefined } },
    'observers must be a list of observers, got an object: put it in brackets, as in [MetricsObserver]',
  ],
  [
    'an observer that is a function',
    { observers: [() => undefined] },
    'observers.0 must be an observer or the class of one, got a function: see JobObserver for what it implements',
  ],
  [
    'a zone with a typing mistake',
    { timeZone: 'Asia/Singapor' },
    "timeZone must be an IANA time zone, got 'Asia/Singapor': did you mean 'Asia/Singapore'?",
  ],
  ['an offset for a zone', { timeZone: '+08:00' }, `timeZone must be an IANA time zone, got '+08:00': ${ZONE}`],
  [
    'a space behind a zone',
    { timeZone: 'Europe/Berlin ' },
    "timeZone must be an IANA time zone, got 'Europe/Berlin ': did you mean 'Europe/Berlin'?",
  ],
  ['an empty zone', { timeZone: '' }, `timeZone must be an IANA time zone, got '': ${ZONE}`],
  ['an option with a typing mistake', { lockExpiri: '9s' }, "lockExpiri is no option here: did you mean 'lockExpiry'?"],
  ['an option with a unit', { lockExpiryMs: 9_000 }, "lockExpiryMs is no option here: did you mean 'lockExpiry'?"],
  [
    'a limit for the heartbeat thread',
    { stallLimit: '60s' },
    'stallLimit is no option here: the limit of heartbeatThread is 20 s, because a leader cannot trust its locks for longer without renewing them',
  ],
  [
    'a prefix',
    { keyPrefix: 'x:' },
    'keyPrefix is no option here: the keys begin with projectName, so set that instead',
  ],
  [
    'a URL under another name',
    { redis: 'redis://cache' },
    "redis is no option here: set connection, as in connection: 'redis://host:6379'",
  ],
];

const THREADS: Row[] = [
  [
    'a heartbeat thread in words',
    { heartbeatThread: 'on' },
    "heartbeatThread must be true, false or { workerFile }, got 'on': write true unless the application is bundled",
  ],
  [
    'a heartbeat thread with a store',
    { heartbeatThread: true },
    'heartbeatThread needs Redis, got a store: leave one of the two out',
  ],
  [
    'a worker file that is a number',
    { store: undefined, connection: 'redis://cache', heartbeatThread: { workerFile: 3 } },
    `heartbeatThread.workerFile must be the path or URL of a file, got 3: ${WORKER_FILE}`,
  ],
  [
    'a worker file that is empty',
    { store: undefined, connection: 'redis://cache', heartbeatThread: { workerFile: '' } },
    `heartbeatThread.workerFile must be the path or URL of a file, got '': ${WORKER_FILE}`,
  ],
  [
    'no worker file',
    { store: undefined, connection: 'redis://cache', heartbeatThread: {} },
    `heartbeatThread.workerFile must be the path or URL of a file, got undefined: ${WORKER_FILE}`,
  ],
  [
    'a worker file under another name',
    {
      store: undefined,
      connection: 'redis://cache',
      heartbeatThread: { workerFile: './thread.js', file: './thread.js' },
    },
    'heartbeatThread.file is no option here: the options are workerFile',
  ],
  [
    'a heartbeat thread beside a client',
    { store: undefined, connection: new Redis({ lazyConnect: true }), heartbeatThread: true },
    `connection ${NO_CLONE}`,
  ],
  [
    'a heartbeat thread beside a cluster client',
    { store: undefined, connection: new Cluster(['redis://cache'], { lazyConnect: true }), heartbeatThread: true },
    `connection ${NO_CLONE}`,
  ],
  [
    'a heartbeat thread beside a function',
    {
      store: undefined,
      connection: { host: 'cache', tls: { checkServerIdentity: () => undefined } },
      heartbeatThread: { workerFile: './thread.js' },
    },
    `connection.tls.checkServerIdentity ${NO_FUNCTION}`,
  ],
  [
    'a heartbeat thread beside a function of a cluster',
    {
      store: undefined,
      connection: { nodes: ['redis://cache'], options: { clusterRetryStrategy: () => 500 } },
      heartbeatThread: true,
    },
    `connection.options.clusterRetryStrategy ${NO_FUNCTION}`,
  ],
];

const OVERRIDES: Row[] = [
  [
    'a list of overrides',
    { jobs: ['price-tick'] },
    "jobs must be an object of overrides by job name, got an array: write it as { 'price-tick': { period: '1s' } }",
  ],
  [
    'an override that is no object',
    { jobs: { tick: '1s' } },
    "jobs.tick must be an object of options, got '1s': write it as { period: '1s' }",
  ],
  [
    'an override with a typing mistake',
    { jobs: { tick: { perod: 1 } } },
    "jobs.tick.perod is no option here: did you mean 'period'?",
  ],
  [
    'an empty override',
    { jobs: { tick: { period: '' } } },
    `jobs.tick.period ${DURATION}, got '': give it a value, or leave the option out`,
  ],
  [
    'a new name',
    { jobs: { tick: { name: 'tock' } } },
    'jobs.tick.name is no option here: set the name in the decorator; an override is found by that name',
  ],
  [
    "a job's lock that is too short",
    { jobs: { tick: { lockExpiry: '400ms' } } },
    'jobs.tick.lockExpiry must be at least 500ms, got 400ms: raise it',
  ],
  [
    'a slow run that has no unit',
    { jobs: { tick: { warnAfter: '500' } } },
    "jobs.tick.warnAfter must be a duration such as '8s', or false, got '500': add a unit, as in '500ms', or pass it as a number",
  ],
  [
    'a contradiction',
    { jobs: { tick: { enabled: true, disabled: true } } },
    'jobs.tick.enabled and disabled contradict each other, both are true: keep one of them',
  ],
  [
    'an unknown overlap',
    { jobs: { tick: { overlap: 'queue' } } },
    "jobs.tick.overlap must be 'skip' or 'cancel-other', got 'queue': " +
      "use 'skip' to drop a tick that is due during a run, 'cancel-other' to abort that run",
  ],
];

describe('an application with one mistake in its options does not start and says', () => {
  const rows = [...NAMES, ...DURATIONS, ...BOOLEANS, ...CONNECTIONS, ...PARTS, ...THREADS, ...OVERRIDES];

  it.each(rows)('what is wrong with %s, and the fix', async (_mistake, options, problem) => {
    expect(await mistakes(options)).toEqual([problem]);
  });

  it('every mistake at once', async () => {
    const problems = await mistakes({
      projectName: '',
      lockExpiry: '100ms',
      timeZone: 'Mars',
      jobs: { x: { delay: 0 } },
    });

    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'projectName',
      'lockExpiry',
      'timeZone',
      'jobs.x.delay',
    ]);
  });
});

describe('the environment', () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });

  it('production refuses the in-memory store, which no other replica sees', async () => {
    process.env['NODE_ENV'] = 'production';

    expect(await mistakes({})).toEqual([
      "store must not be 'memory' in production, where every replica would run every job: " +
        'set connection, or allowInMemoryStore: true if there is only ever one process',
    ]);
  });

  it('production accepts the in-memory store with allowInMemoryStore', async () => {
    process.env['NODE_ENV'] = 'production';

    expect(await mistakes({ allowInMemoryStore: true })).toEqual([]);
  });

  it('leaves out what is undefined, as variables are that were not set', async () => {
    expect(await mistakes({ lockExpiry: process.env['NO_SUCH_VARIABLE'], keyPrefix: undefined })).toEqual([]);
  });
});
