import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describeLockStore } from 'nestjs-singleton-job/testing';
import { RedisLockStore } from '../../libs/singleton-job/src/store/index.js';
import { RedisServer } from '../../tools/redis/index.js';
import { eventually } from './lock-store-world.js';

let server: RedisServer;
let raw: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  raw = new Redis(server.url);
});

afterAll(async () => {
  raw.disconnect();
  await server.stop();
});

describeLockStore(
  { describe, it },
  {
    name: 'the Redis lock store',
    makeWorld: async () => {
      const projectName = `p-${randomUUID()}`;
      const makeStore = async (): Promise<RedisLockStore> => {
        const store = new RedisLockStore({
          projectName,
          connection: server.url,
        });
        const reached = new Promise<void>((resolve) => store.listen({ reachable: resolve }));
        store.open();
        await reached;
        await eventually('the store hears releases', () => store.hearsReleases || undefined);
        return store;
      };
      const [store, other] = await Promise.all([makeStore(), makeStore()]);
      return {
        store,
        other,
        occupy: async (name, holder, ttlMs) => {
          const key = `${projectName}:${name}:lock`;
          await (ttlMs === undefined ? raw.set(key, holder) : raw.set(key, holder, 'PX', ttlMs));
        },
        loseData: async () => {
          await raw.flushall();
        },
        passTime: async (ms) => {
          await delay(ms);
        },
        end: async () => {
          await Promise.all([store.close(), other.close()]);
        },
      };
    },
  },
);
