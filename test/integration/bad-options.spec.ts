import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { problemsOf, startApplication } from '../support/nest-application.js';
import { SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';

const { Pool } = pg;

/** As the clients of ORMs are: with options of its own. */
class DataSource {
  readonly options = { type: 'postgres' };
  connect(): void {}
}

type Row = readonly [mistake: string, options: Record<string, unknown>];

const GOOD = { projectName: 'test', store: 'memory' } as const;

/** What start-up says to options that are good but for what is given. */
function mistakes(options: Record<string, unknown>): Promise<readonly string[]> {
  const all = { ...GOOD, ...options } as unknown as SingletonJobOptions;
  return problemsOf(startApplication({ imports: [SingletonJobModule.forRoot(all)] }));
}

const NAMES: Row[] = [
  ['no project', { projectName: undefined }],
  ['a colon in the project', { projectName: 'my:app' }],
  ['braces in the project', { projectName: '{app}' }],
  ['a long text for a project', { projectName: 'my app '.repeat(10).trim() }],
  ['a # in the node id', { nodeId: 'node#1' }],
];

const DURATIONS: Row[] = [
  ['a number in a string', { heartbeatInterval: '3000' }],
  ['a negative grace', { misfireGrace: -1 }],
  ['a heartbeat of 10 ms', { heartbeatInterval: '10ms' }],
  ['a heartbeat of 10 ms as a text', { heartbeatInterval: '10ms' }],
  ['seconds without a unit', { shutdownTimeout: 30 }],
  ['a lock that expires at once', { heartbeatInterval: '50ms', lockExpiry: 400 }],
  ['a lock that lives for ever', { lockExpiry: '25h' }],
  ['a lock that outlives one heartbeat only', { heartbeatInterval: '3s', lockExpiry: '4s' }],
  ['zero for never', { warnAfter: 0 }],
  ['too little time to stop', { shutdownTimeout: '2s' }],
];

const BOOLEANS: Row[] = [
  ['false as a string and nowhere to run', { enabled: 'false', store: undefined }],
  ['true as a string', { migrate: 'true' }],
  ['a number for a boolean', { rebalance: 1 }],
];

const CONNECTIONS: Row[] = [
  ['neither connection nor store', { store: undefined }],
  ['a URL of another kind', { connection: 'http://user:secret@cache:6379?password=secret' }],
  ['a space in front of a URL', { connection: ' redis://cache' }],
  ['a space in front of a file', { connection: ' sqlite:./jobs.db' }],
  [
    'a line break behind a URL of PostgreSQL',
    { connection: { postgres: { connectionString: 'postgresql://db/shop\n' } } },
  ],
  ['a line break in an encoded password', { connection: 'redis://:pw%0A@cache' }],
  ['a + in a query', { connection: 'redis://cache?password=a+b=' }],
  ['two hosts', { connection: 'postgresql://db1,db2/shop' }],
  ['a file at the root of the disk', { connection: 'sqlite:///./jobs.db' }],
  ['a # in a password of digits, which reads as a port', { connection: 'redis://user:12#3@cache:6379' }],
  ['a / in a password', { connection: 'rediss://user:12/3@cache' }],
  ['a % in a password', { connection: 'redis://:100%@cache' }],
  ['a database that is no number', { connection: 'redis://cache:6379/main' }],
  ['a function for a password', { connection: { host: 'cache', password: () => 'secret' } }],
  ['a line break behind a password', { connection: { host: 'cache', password: 'pw\n' } }],
  ['a number for a password', { connection: { host: 'cache', password: 123_456 } }],
  [
    'a function for a password of a cluster',
    { connection: { nodes: [6379], options: { redisOptions: { password: () => 'secret' } } } },
  ],
  ['a URL of MySQL without a database', { connection: 'mysql://user:secret@db' }],
  ['a URL in place of options of MySQL', { connection: { mysql: 'mysql://user:secret@db/shop' } }],
  ['options of MySQL without a database', { connection: { mysql: { host: 'db' } } }],
  ['a URL of MySQL without a database among options', { connection: { mysql: { uri: 'mysql://user:secret@db' } } }],
  ['an option beside those of MySQL', { connection: { mysql: { database: 'shop' }, schema: 'jobs' } }],
  ['an option of another client for MySQL', { connection: { mysql: { username: 'app', database: 'shop' } } }],
  ['true for TLS of MySQL', { connection: { mysql: { database: 'shop', ssl: true } } }],
  ...['sslmode=require', 'ssl-mode=REQUIRED', 'sslaccept=strict', 'ssl=true'].map((query): Row => [
    `${query} for MySQL`,
    { connection: `mysql://db/shop?connection_limit=5&${query}` },
  ]),
  ['SQLite without a file', { connection: 'sqlite:' }],
  ['SQLite on a host', { connection: 'sqlite://jobs.db' }],
  ['migrations of SQLite', { connection: 'sqlite:./jobs.db', migrate: false }],
  ['a URL of PostgreSQL without a host', { connection: 'postgresql:' }],
  ['a URL in place of options of PostgreSQL', { connection: { postgres: 'postgresql://user:secret@db/shop' } }],
  ['a URL among options of PostgreSQL', { connection: { postgres: { url: 'postgresql://user:secret@db/shop' } } }],
  ['a schema beside PostgreSQL options', { connection: { postgres: {}, schema: 'jobs' } }],
  ['a pool and a heartbeat thread', { store: undefined, heartbeatThread: true, connection: { postgres: new Pool() } }],
  ['a schema that needs quotes', { connection: 'postgresql://db/shop', schema: 'My-Jobs' }],
  ['the schema of the application', { connection: 'postgresql://db/shop', schema: 'public' }],
  ['a schema with Redis', { connection: 'redis://cache', schema: 'jobs' }],
  ['TLS by a parameter that ioredis ignores', { connection: 'redis://:secret@cache?ssl=true' }],
  ['a prefix in a URL', { connection: 'redis://cache?keyPrefix=x' }],
  ['a URL among options', { connection: { url: 'redis://user:secret@cache' } }],
  ['options of another client', { connection: { socket: { host: 'cache' } } }],
  ['a URL as a host', { connection: { host: 'redis://user:secret@cache' } }],
  ['options that name no server', { connection: { db: 2, tls: {} } }],
  ['options of pg without postgres', { connection: { host: 'db', port: 5432, user: 'app', password: 'secret' } }],
  ['a % in a password that cannot be decoded', { connection: 'postgresql://app:ab%cd@db/shop' }],
  ['a client of an ORM', { connection: new DataSource() }],
  ['a URL of Redis for PostgreSQL', { connection: { postgres: { connectionString: 'redis://app:secret@cache' } } }],
  ['an empty host', { connection: { host: '' } }],
  ['an empty host beside a port', { connection: { host: '', port: 6379 } }],
  ['a port that is too large', { connection: { host: 'cache', port: 63_790 * 10 } }],
  ['options of nodes beside the nodes', { connection: { nodes: [7000], redisOptions: { password: 'secret' } } }],
  ['a cluster of no nodes', { connection: { nodes: [] } }],
  ['a port alone', { connection: 6379 }],
];

const PARTS: Row[] = [
  ['a store that is none', { store: {} }],
  ['a URL for a store', { store: 'redis://user:secret@cache?password=secret' }],
  ['observers without brackets', { observers: { runFailed: () => undefined } }],
  ['an observer whose methods are no events', { observers: [{ onRunFailed: () => undefined }] }],
  ['an observer that is a function', { observers: [() => undefined] }],
  ['an option with a typing mistake', { lockExpiri: '9s' }],
  ['a URL under another name', { redis: 'redis://cache' }],
];

const thread = (heartbeatThread: unknown, connection: unknown = 'redis://cache') => ({
  ...{ store: undefined, connection, heartbeatThread },
});
const CLIENT = new Redis({ lazyConnect: true });
const CHECKED = { host: 'cache', tls: { checkServerIdentity: () => undefined } };

const THREADS: Row[] = [
  ['a heartbeat thread in words', { heartbeatThread: 'on' }],
  ['a heartbeat thread with a store', { heartbeatThread: true }],
  ['a crash hand-over without a thread', { ...thread(undefined), crashHandover: true }],
  ['a worker file that is a number', thread({ workerFile: 3 })],
  ['a worker file under another name', thread({ workerFile: './thread.js', file: './thread.js' })],
  ['a heartbeat thread beside a client', thread(true, CLIENT)],
  ['a heartbeat thread beside a function', thread({ workerFile: './thread.js' }, CHECKED)],
];

const OVERRIDES: Row[] = [
  ['a list of overrides', { jobs: ['price-tick'] }],
  ['an override that is no object', { jobs: { tick: '1s' } }],
  ['an override with a typing mistake', { jobs: { tick: { perod: 1 } } }],
  ['a new name', { jobs: { tick: { name: 'tock' } } }],
];

describe('an application with one mistake in its options does not start and says', () => {
  const rows = [...NAMES, ...DURATIONS, ...BOOLEANS, ...CONNECTIONS, ...PARTS, ...THREADS, ...OVERRIDES];

  it.each(rows)('what is wrong with %s, and the fix', async (_mistake, options) => {
    const problems = await mistakes(options);
    expect(problems).toHaveLength(1);
    expect(problems).toMatchSnapshot();
  });
});
