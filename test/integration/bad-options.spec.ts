import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { problemsOf, startApplication } from '../support/nest-application.js';
import { SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';

/** As the clients of ORMs are: with options of its own. */
class DataSource {
  readonly options = { type: 'postgres' };
  connect(): void {}
}

type Options = Record<string, unknown>;

const GOOD = { projectName: 'test', store: 'memory' } as const;

/** What start-up says to options that are good but for what is given. */
function mistakes(options: Options): Promise<readonly string[]> {
  const all = { ...GOOD, ...options } as unknown as SingletonJobOptions;
  return problemsOf(startApplication({ imports: [SingletonJobModule.forRoot(all)] }));
}

const TLS_OF_OTHERS = ['sslmode=require', 'ssl-mode=REQUIRED', 'sslaccept=strict', 'ssl=true'];

/** Connections with one mistake, by what they lead to. What other software has in their place: advice.spec.ts. */
const CONNECTIONS = {
  anything: [
    'http://user:secret@cache:6379?password=secret',
    6379,
    new DataSource(),
    { socket: { host: 'cache' } },
    { host: 'db', port: 5432, user: 'app', password: 'secret' },
  ],
  Redis: [
    ' redis://cache',
    'redis://:pw%0A@cache',
    'redis://cache?password=a+b=',
    // before a # is a password of digits, which reads as a port
    'redis://user:12#3@cache:6379',
    'rediss://user:12/3@cache',
    'redis://:100%@cache',
    'redis://cache:6379/main',
    'redis://:secret@cache?ssl=true',
    'redis://cache?keyPrefix=x',
    { url: 'redis://user:secret@cache' },
    { host: 'redis://user:secret@cache' },
    { host: 'cache', password: () => 'secret' },
    { host: 'cache', password: 'pw\n' },
    { host: 'cache', password: 123_456 },
    { host: '' },
    { host: '', port: 6379 },
    { host: 'cache', port: 637_900 },
    { db: 2, tls: {} },
  ],
  'a cluster': [
    { nodes: [] },
    { nodes: [7000], redisOptions: { password: 'secret' } },
    { nodes: [6379], options: { redisOptions: { password: () => 'secret' } } },
  ],
  MySQL: [
    ...TLS_OF_OTHERS.map((query) => `mysql://db/shop?connection_limit=5&${query}`),
    'mysql://user:secret@db',
    { mysql: 'mysql://user:secret@db/shop' },
    { mysql: { host: 'db' } },
    { mysql: { uri: 'mysql://user:secret@db' } },
    { mysql: { username: 'app', database: 'shop' } },
    { mysql: { database: 'shop', ssl: true } },
    { mysql: { database: 'shop' }, schema: 'jobs' },
  ],
  SQLite: ['sqlite:', 'sqlite://jobs.db', 'sqlite:///./jobs.db', ' sqlite:./jobs.db'],
  PostgreSQL: [
    'postgresql:',
    'postgresql://db1,db2/shop',
    'postgresql://app:ab%cd@db/shop',
    { postgres: 'postgresql://user:secret@db/shop' },
    { postgres: { url: 'postgresql://user:secret@db/shop' } },
    { postgres: { connectionString: 'postgresql://db/shop\n' } },
    { postgres: { connectionString: 'redis://app:secret@cache' } },
    { postgres: {}, schema: 'jobs' },
  ],
};

/** Values with one mistake, by their option. */
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  projectName: [undefined, 'my:app', '{app}', 'my app '.repeat(10).trim()],
  nodeId: ['node#1'],
  heartbeatInterval: ['3000', '10ms'],
  lockExpiry: [400, '25h'],
  misfireGrace: [-1],
  shutdownTimeout: [30, '2s'],
  warnAfter: [0],
  migrate: ['true'],
  rebalance: [1],
  store: [{}, 'redis://user:secret@cache?password=secret'],
  observers: [{ runFailed: () => undefined }, [{ onRunFailed: () => undefined }], [() => undefined]],
  interceptors: [class Transaction {}, [{ itercept: () => 1 }], [{ intercept: () => 1 }, null], ['none']],
  heartbeatThread: ['on', true],
  jobs: [['price-tick'], { tick: '1s' }, { tick: { perod: 1 } }, { tick: { name: 'tock' } }],
  lockExpiri: ['9s'],
  redis: ['redis://cache'],
};

const REDIS = { store: undefined, connection: 'redis://cache' };
const CHECKED = { host: 'cache', tls: { checkServerIdentity: () => undefined } };

/** One mistake that two options make together. */
const PAIRS: Readonly<Record<string, readonly Options[]>> = {
  'lockExpiry and heartbeatInterval': [{ heartbeatInterval: '3s', lockExpiry: '4s' }],
  'connection and store': [{ store: undefined }, { enabled: 'false', store: undefined }],
  'schema and connection': [
    { connection: 'postgresql://db/shop', schema: 'My-Jobs' },
    { connection: 'postgresql://db/shop', schema: 'public' },
    { connection: 'redis://cache', schema: 'jobs' },
    { connection: 'sqlite:./jobs.db', migrate: false },
  ],
  'heartbeatThread and connection': [
    { ...REDIS, crashHandover: true },
    { ...REDIS, heartbeatThread: { workerFile: 3 } },
    { ...REDIS, heartbeatThread: { workerFile: './thread.js', file: './thread.js' } },
    { ...REDIS, heartbeatThread: true, connection: new Redis({ lazyConnect: true }) },
    { ...REDIS, heartbeatThread: true, connection: { postgres: new pg.Pool() } },
    { ...REDIS, heartbeatThread: { workerFile: './thread.js' }, connection: CHECKED },
  ],
};

const each = (name: string, values: readonly unknown[]): Options[] => values.map((value) => ({ [name]: value }));

describe('an application does not start, and says what is wrong and the fix, of', () => {
  it.each<[string, readonly Options[]]>([
    ...Object.entries(OPTIONS).map(([name, values]): [string, Options[]] => [name, each(name, values)]),
    ...Object.entries(CONNECTIONS).map(([to, values]): [string, Options[]] => [
      `a connection to ${to}`,
      each('connection', values),
    ]),
    ...Object.entries(PAIRS),
  ])('%s', async (_what, all) => {
    const problems = await Promise.all(all.map(mistakes));
    expect(problems.filter(({ length }) => length !== 1)).toEqual([]);
    expect(problems.flat()).toMatchSnapshot();
  });

  it('all options at once', async () => {
    const wrong = Object.entries(OPTIONS).map(([name, [value]]): [string, unknown] => [name, value]);
    const places = (await mistakes(Object.fromEntries(wrong))).map((problem) => /^\w+/.exec(problem)?.[0]);
    expect(places.toSorted()).toEqual(Object.keys(OPTIONS).toSorted());
  });
});
