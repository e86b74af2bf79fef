import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/describe-lock-store.js';
import { RedisFixture } from './redis-fixture.js';

let fixture: RedisFixture;

beforeAll(async () => {
  fixture = await RedisFixture.start({ appendOnly: true });
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describeLockStore(
  { describe, it },
  {
    name: 'the Redis lock store',
    leaveOut: ['a clock that is set back'],
    makeFixture: async () => {
      const { raw, server } = fixture;
      const projectName = `p-${randomUUID()}`;
      const stores = await Promise.all([fixture.connect({ projectName }), fixture.connect({ projectName })]);
      const [{ store }, { store: other }] = stores;
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
        loseSessions: async () => {
          await raw.del(`{${projectName}:sessions}`);
        },
        loseState: async (name) => {
          await raw.del(`{${projectName}:${name}:lock}:state`);
        },
        restart: async () => {
          for (const { events } of stores) events.length = 0;
          await server.restart();
          await Promise.all(stores.map((opened) => fixture.isConnected(opened)));
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
