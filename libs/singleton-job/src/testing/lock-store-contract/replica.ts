import { equal, rejects } from 'node:assert/strict';
import { includes } from './assertions.js';
import { acquireRequest, granted, heartbeat, refused, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

export const REPLICA: Rules = {
  'that sends several requests at once has them carried out in their order': async ({ store, renew, release }) => {
    const requests = [store.acquire(acquireRequest('a#1')), renew('a#1'), release('a#1'), renew('a#1')];
    const expected = [{ granted: true }, { held: true }, { released: true }, { held: false }];
    for (const [n, result] of (await Promise.all(requests)).entries()) includes(result, expected[n] ?? {});
  },

  'that closed its store gets no answer': async ({ store, renew, claim, release }) => {
    await granted(store, acquireRequest('a#1'));
    await store.close();
    await store.close();
    equal(store.isSubscribed, false);
    const requests = [
      () => heartbeat(store, []),
      () => store.endSession(sessionOfReplica('a')),
      () => store.acquire(acquireRequest('a#1')),
      () => renew('a#1'),
      () => claim('a#1', { token: 1, scheduledAt: 1 }),
      () => release('a#1'),
      () => store.setPaused({ name: 'price-tick', isPaused: true }),
      () => store.publish({ kind: 'granted', locks: [] }),
    ];
    for (const send of requests) await rejects(send, { code: 'STORE_UNREACHABLE', wasSent: false });
  },

  'that closed its store leaves the locks, its session and the other replicas as they are': async ({
    store,
    other,
  }) => {
    await heartbeat(store, [sessionOfReplica('a')]);
    await granted(store, acquireRequest('a.1@600000#1'));
    await store.close();
    includes(await refused(other, acquireRequest('b#1')), { holder: 'a.1@600000#1' });
    includes((await heartbeat(other, [])).changes.get('a.1@600000') ?? {}, { hasEnded: false });
    equal(other.isSubscribed, true);
  },
};
