import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { RedisFixture } from './redis-fixture.js';
import { hammer } from './hammer.js';

let fixture: RedisFixture;

beforeAll(async () => {
  fixture = await RedisFixture.start({ appendOnly: true });
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describeStore(
  { describe, it },
  {
    name: 'the Redis store',
    makeFixture: () => {
      const [projectName, other] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      return {
        newStore: () => fixture.newStore({ projectName }),
        newStoreOfOtherProject: () => fixture.newStore({ projectName: other }),
        spoil: async (name) => {
          await fixture.raw.lpush(`{${projectName}}:${name}`, 'of another program');
        },
        restart: () => fixture.server.restart(),
        loseData: async () => {
          await fixture.raw.flushall();
        },
      };
    },
  },
);

describe('the Redis store', () => {
  it('keeps its promises to many replicas at once', async () => {
    const { problems, applied, ended, rejected } = await hammer(async () => {
      const store = fixture.newStore({ projectName: 'hammered' });
      const connected = new Promise<void>((resolve) => store.addListener({ connected: resolve }));
      store.open();
      await connected;
      return store;
    });
    expect([problems, rejected]).toEqual([[], []]);
    expect(applied).toBeGreaterThan(200);
    expect(ended).toBeGreaterThan(20);
  });
});
