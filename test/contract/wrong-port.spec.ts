import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openStore } from '../../libs/singleton-job/src/store/open-store.js';
import { until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { MysqlServer } from '../../tools/servers/mysql-server.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { closeOpened, open } from './reporting-store.js';

let redis: RedisServer;
let servers: Readonly<Record<string, number>>;
let stop: () => Promise<unknown>;

beforeAll(async () => {
  const started = await Promise.all([RedisServer.start(), PostgresServer.start(), MysqlServer.start()]);
  const [{ port }, postgres, mysql] = started;
  [redis] = started;
  servers = { Redis: port, PostgreSQL: postgres.port, MySQL: mysql.port };
  stop = () => Promise.all(started.map((server) => server.stop()));
}, 60_000);

afterEach(closeOpened);
afterAll(() => stop());

const urlOf = (store: string, port: number): string => {
  const scheme = { Redis: 'redis:', PostgreSQL: 'postgresql:', MySQL: 'mysql:' }[store];
  return `${String(scheme)}//127.0.0.1:${String(port)}${store === 'Redis' ? '' : '/shop'}`;
};

describe('a store on the port of another server', () => {
  it.each([
    ['PostgreSQL', 'MySQL'],
    ['PostgreSQL', 'Redis'],
    ['MySQL', 'PostgreSQL'],
    ['MySQL', 'Redis'],
    ['Redis', 'PostgreSQL'],
    ['Redis', 'MySQL'],
  ])('says at each attempt what speaks there: %s at %s', async (store, server) => {
    const connection = urlOf(store, servers[server] ?? 0);
    const { disconnected } = open(await openStore({ projectName: 'myapp', connection }));
    await until('a second attempt fails', () => disconnected.at(1));
    const message = expect.stringContaining(
      `${store} is not connected: a server at this port speaks ${server}: `,
    ) as unknown;
    const error = { code: 'STORE_MISCONFIGURED', message };
    expect(disconnected).toMatchObject([error, error]);
  });
});

it('a Redis with all its clients is not taken for one with TLS', async () => {
  const client = new Redis(redis.url);
  await client.config('SET', 'maxclients', 1);
  const { disconnected } = open(await openStore({ projectName: 'myapp', connection: redis.url }));
  await until('an attempt fails', () => disconnected.at(0));
  const message = expect.stringContaining('max number of clients reached. Raise maxclients') as unknown;
  expect(disconnected[0]).toMatchObject({ code: 'STORE_REFUSED_WRITE', message });
  client.disconnect();
});
