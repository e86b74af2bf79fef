import { includes } from './assertions.js';
import { acquireRequest, eventually, granted, heartbeat, LONG_MS, refused } from './requests.js';
import { type Rules, type Scene } from './scene.js';

export const WAIT: Rules = {
  'holds for a free lock': async (scene) => {
    const notBefore = await inTenMinutes(scene);
    const refusal = await refused(scene.store, acquireRequest('a#1', { notBefore }));
    includes(refusal, { reason: 'too-early', holder: undefined, ttlMs: 0, token: 0, stateCreatedAt: undefined });
  },

  'holds for the lock of an ended session, and of the own session': async (scene) => {
    const notBefore = await inTenMinutes(scene);
    await granted(scene.store, acquireRequest('a.1@800#1'));
    const [ended, own] = [
      acquireRequest('b.1@800#1', { notBefore, endedSession: 'a.1@800' }),
      acquireRequest('a.1@800#2', { notBefore }),
    ];
    for (const request of [ended, own]) {
      includes(await refused(scene.store, request), { reason: 'too-early', holder: 'a.1@800#1' });
    }
  },

  'ends with the time of the store': async ({ world, store }) => {
    const { storeTime } = await heartbeat(store, []);
    const request = acquireRequest('a#1', { notBefore: storeTime + 20 });
    await eventually('the time has come', async () => {
      await world.passTime(5);
      return (await store.acquire(request)).granted || undefined;
    });
  },

  'does not hold for a first start, while there is no state': async (scene) => {
    const notBefore = await inTenMinutes(scene);
    await granted(scene.store, acquireRequest('a#1', { notBefore, isFirstStart: true }));
    await scene.release('a#1');
    const second = acquireRequest('b#1', { notBefore, isFirstStart: true });
    includes(await refused(scene.other, second), { reason: 'too-early' });
  },

  'does not hold for a request whose lost answer was a grant': async (scene) => {
    const request = acquireRequest('a#1', { notBefore: await inTenMinutes(scene), isFirstStart: true });
    const { token } = await granted(scene.store, request);
    includes(await granted(scene.store, request), { token });
  },

  'is not the reason of a refusal while the lock is held': async (scene) => {
    const notBefore = await inTenMinutes(scene);
    await granted(scene.store, acquireRequest('a#1'));
    includes(await refused(scene.other, acquireRequest('b#1', { notBefore })), { reason: 'held' });
  },
};

async function inTenMinutes({ store }: Scene): Promise<number> {
  return (await heartbeat(store, [])).storeTime + LONG_MS;
}
