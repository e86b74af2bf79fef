import { above, includes } from './assertions.js';
import { acquireRequest, eventually, granted, refused } from './requests.js';
import { type Rules } from './rule-context.js';

const HOLDER = 'eu.1@pod-a.2@10000#17';

export const TAKEOVER: Rules = {
  'of a lock is granted to a request that names the ended session of its holder': async ({ store, other }) => {
    const first = await granted(store, acquireRequest(HOLDER));
    const endedSession = 'eu.1@pod-a.2@10000';
    const second = await granted(other, acquireRequest('b.1@10000#1', { endedSession }));
    above(second.token, first.token);
    includes(first, { previousHolder: undefined });
    includes(second, { stateCreatedAt: first.stateCreatedAt, previousHolder: HOLDER });
    includes(await refused(other, acquireRequest('c.1@10000#1', { endedSession })), { holder: 'b.1@10000#1' });
  },

  'is refused to a request that names no session, or another one of the same replica': async ({ store, other }) => {
    await granted(store, acquireRequest(HOLDER));
    const others = [undefined, 'eu.1@pod-a.1@10000', 'eu.1@pod-a.22@10000', 'eu.1@pod-a.2@800', 'eu.1@pod-a'];
    for (const endedSession of others) {
      includes(await refused(other, acquireRequest('b.1@10000#1', { endedSession })), {
        reason: 'held',
        holder: HOLDER,
      });
    }
  },

  'ends what the old holder may do': async ({ store, other, renew, claim, release }) => {
    const { token, storeTime } = await granted(store, acquireRequest('a.1@10000#1'));
    await granted(other, acquireRequest('b.1@10000#1', { endedSession: 'a.1@10000' }));
    const holder = 'b.1@10000#1';
    includes(await renew('a.1@10000#1', { handled: storeTime }), { held: false, holder });
    includes(await claim('a.1@10000#1', { token, scheduledAt: storeTime }), { outcome: 'not-leader', holder });
    includes(await release('a.1@10000#1', { claimed: storeTime }), { released: false });
    includes(await refused(store, acquireRequest('c#1')), { holder, claimed: undefined });
  },

  'of the own session needs a higher attempt': async ({ store }) => {
    const first = await granted(store, acquireRequest('a.1@10000#9'));
    includes(await refused(store, acquireRequest('a.1@10000#8')), { reason: 'held', holder: 'a.1@10000#9' });
    includes(await refused(store, acquireRequest('a.2@10000#10')), { reason: 'held', holder: 'a.1@10000#9' });
    const second = await granted(store, acquireRequest('a.1@10000#10'));
    above(second.token, first.token);
  },

  'is refused while a holder lives that names no session': async ({ fixture, store }) => {
    for (const holder of ['another-client', 'pod-a#3', 'pod-a.1@10000']) {
      await fixture.occupy('price-tick', holder, 60_000);
      const request = acquireRequest('pod-a.1@10000#4', { endedSession: 'pod-a.1@10000' });
      includes(await refused(store, request), { reason: 'held', holder });
    }
    await fixture.occupy('price-tick', 'another-client', 20);
    await eventually('the foreign lock expires', async () => {
      await fixture.passTime(10);
      return (await store.acquire(acquireRequest('a.1@10000#1'))).granted || undefined;
    });
  },
};
