import { above, includes } from './assertions.js';
import { acquireRequest, granted } from './requests.js';
import { type Rules } from './rule-context.js';

const SHORT_MS = 40;

/** The state of a lock of `LockService`, which would otherwise stay for every name that was ever locked. */
export const STATE_LIFE: Rules = {
  'is deleted so long after the last grant or renewal, and the next token is still higher': async ({
    fixture,
    store,
    other,
    release,
  }) => {
    const first = await granted(store, acquireRequest('a#1', { stateLifeMs: SHORT_MS }));
    await release('a#1');
    await fixture.passTime(2 * SHORT_MS);
    const second = await granted(other, acquireRequest('b#1', { stateLifeMs: SHORT_MS }));
    above(second.stateCreatedAt, first.stateCreatedAt);
    above(second.token, first.token);
  },

  'stays until then': async ({ fixture, store, other, release }) => {
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1', { stateLifeMs: 600_000 }));
    await release('a#1');
    await fixture.passTime(2 * SHORT_MS);
    includes(await granted(other, acquireRequest('b#1', { stateLifeMs: 600_000 })), { stateCreatedAt });
  },

  'gets a new life from each grant, and from no renewal that sets none': async ({ fixture, store, renew, release }) => {
    await granted(store, acquireRequest('a#1', { stateLifeMs: SHORT_MS }));
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1', { stateLifeMs: 600_000 }));
    await fixture.passTime(2 * SHORT_MS);
    await release('a#1');
    includes(await granted(store, acquireRequest('a#2', { stateLifeMs: SHORT_MS })), { stateCreatedAt });
    await renew('a#2');
    await fixture.passTime(2 * SHORT_MS);
    await renew('a#2');
    await release('a#2');
    above((await granted(store, acquireRequest('a#3', { stateLifeMs: SHORT_MS }))).stateCreatedAt, stateCreatedAt);
  },

  'gets a new life from each renewal that sets one': async ({ fixture, store, renew, release }) => {
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1', { stateLifeMs: SHORT_MS }));
    await renew('a#1', {}, { stateLifeMs: 600_000 });
    await renew('b#1', {}, { stateLifeMs: SHORT_MS });
    await fixture.passTime(2 * SHORT_MS);
    await release('a#1');
    includes(await granted(store, acquireRequest('a#2', { stateLifeMs: SHORT_MS })), { stateCreatedAt });
  },

  'stays for ever if no life is set, as for a job': async ({ fixture, store, other, release }) => {
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    await release('a#1');
    await fixture.passTime(2 * SHORT_MS);
    includes(await granted(other, acquireRequest('b#1')), { stateCreatedAt });
  },
};
