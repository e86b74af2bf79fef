import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openStore } from '../../libs/singleton-job/src/store/open-store.js';
import { until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { MysqlServer } from '../../tools/servers/mysql-server.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { closeOpened, open, type OpenStore, saying } from './reporting-store.js';

const SCHEMES = { Redis: 'redis', PostgreSQL: 'postgresql', MySQL: 'mysql' } as const;
type Kind = keyof typeof SCHEMES;
const KINDS = Object.keys(SCHEMES) as Kind[];
const PAIRS = KINDS.flatMap((store) => KINDS.filter((one) => one !== store).map((server) => [store, server] as const));

let servers: Readonly<Record<Kind, RedisServer | PostgresServer | MysqlServer>>;
/** Of each pair. They wait beside each other. */
const stores = new Map<string, OpenStore>();

beforeAll(async () => {
  const starting = [RedisServer.start(), PostgresServer.start(), MysqlServer.start()] as const;
  const [Redis, PostgreSQL, MySQL] = await Promise.all(starting);
  servers = { Redis, PostgreSQL, MySQL };
  for (const [store, server] of PAIRS) {
    const connection = `${SCHEMES[store]}://127.0.0.1:${String(servers[server].port)}/${store === 'Redis' ? '' : 'shop'}`;
    stores.set(`${store} at ${server}`, open(await openStore({ projectName: 'myapp', connection })));
  }
});

afterAll(async () => {
  await closeOpened();
  for (const server of Object.values(servers)) await server.stop();
});

it.each(PAIRS)('A %s store on the port of a %s says at each attempt what speaks there', async (store, server) => {
  const { disconnected = [] } = stores.get(`${store} at ${server}`) ?? {};
  await until('a second attempt fails', () => disconnected.at(1));
  const text = `${store} is not connected: a server at this port speaks ${server}: `;
  expect(disconnected.slice(0, 2)).toMatchObject(Array(2).fill(saying('STORE_MISCONFIGURED', text)));
});

it('A Redis with all its clients is not taken for one with TLS', async () => {
  const { url } = servers.Redis;
  const client = new Redis(url);
  await client.config('SET', 'maxclients', 1);
  const { disconnected } = open(await openStore({ projectName: 'myapp', connection: url }));
  await until('an attempt fails', () => disconnected.at(0));
  const text = 'max number of clients reached. Raise maxclients';
  expect(disconnected[0]).toMatchObject(saying('STORE_REFUSED_WRITE', text));
  client.disconnect();
});
