import { includes } from './assertions.js';
import { acquireRequest, eventually, granted, heartbeat, LONG_MS, refused } from './requests.js';
import { type Rules, type RuleContext } from './rule-context.js';

export const WAIT: Rules = {
  'holds for a free lock': async (context) => {
    const notBefore = await inTenMinutes(context);
    const refusal = await refused(context.store, acquireRequest('a#1', { notBefore }));
    includes(refusal, { reason: 'too-early', holder: undefined, ttlMs: 0, token: 0, stateCreatedAt: undefined });
  },

  'holds for the lock of an ended session, and of the own session': async (context) => {
    const notBefore = await inTenMinutes(context);
    await granted(context.store, acquireRequest('a.1@800#1'));
    const [ended, own] = [
      acquireRequest('b.1@800#1', { notBefore, endedSession: 'a.1@800' }),
      acquireRequest('a.1@800#2', { notBefore }),
    ];
    for (const request of [ended, own]) {
      includes(await refused(context.store, request), { reason: 'too-early', holder: 'a.1@800#1' });
    }
  },

  'ends with the time of the store': async ({ fixture, store }) => {
    const { storeTime } = await heartbeat(store, []);
    const request = acquireRequest('a#1', { notBefore: storeTime + 20 });
    await eventually('the time has come', async () => {
      await fixture.passTime(5);
      return (await store.acquire(request)).granted || undefined;
    });
  },

  'does not hold for a first start, while there is no state': async (context) => {
    const notBefore = await inTenMinutes(context);
    await granted(context.store, acquireRequest('a#1', { notBefore, isFirstStart: true }));
    await context.release('a#1');
    const second = acquireRequest('b#1', { notBefore, isFirstStart: true });
    includes(await refused(context.other, second), { reason: 'too-early' });
  },

  'does not hold for a request whose lost answer was a grant': async (context) => {
    const request = acquireRequest('a#1', { notBefore: await inTenMinutes(context), isFirstStart: true });
    const { token } = await granted(context.store, request);
    includes(await granted(context.store, request), { token });
  },

  'is not the reason of a refusal while the lock is held': async (context) => {
    const notBefore = await inTenMinutes(context);
    await granted(context.store, acquireRequest('a#1'));
    includes(await refused(context.other, acquireRequest('b#1', { notBefore })), { reason: 'held' });
  },
};

async function inTenMinutes({ store }: RuleContext): Promise<number> {
  return (await heartbeat(store, [])).storeTime + LONG_MS;
}
