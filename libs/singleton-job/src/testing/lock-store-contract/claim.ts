import { above, includes } from './assertions.js';
import { acquireRequest, granted, refused } from './requests.js';
import { type Rules, type RuleContext } from './rule-context.js';

export const CLAIM: Rules = {
  'takes an occurrence once, and all older ones with it': async ({ store, claim }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    includes(await claim('a#1', { token, scheduledAt: at + 20 }), { outcome: 'claimed', claimed: at + 20 });
    includes(await claim('a#1', { token, scheduledAt: at + 10 }), { outcome: 'taken', claimed: at + 20 });
    includes(await claim('a#1', { token, scheduledAt: at + 30 }), { outcome: 'claimed', holder: 'a#1' });
  },

  'that is repeated after a lost answer results in already-ours': async ({ store, claim }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    await claim('a#1', { token, scheduledAt: at + 20 });
    const repeated = await claim('a#1', { token, scheduledAt: at + 20 });
    includes(repeated, { outcome: 'already-ours', claimed: at + 20 });
  },

  'of an earlier term still counts in the next one': async ({ store, claim, release }) => {
    const first = await granted(store, acquireRequest('a#1'));
    const scheduledAt = first.storeTime + 20;
    await claim('a#1', { token: first.token, scheduledAt });
    await release('a#1');
    const { token } = await granted(store, acquireRequest('a#2'));
    includes(await claim('a#2', { token, scheduledAt }), { outcome: 'taken' });
  },

  'of a handled occurrence is refused': async ({ store, claim, release }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    await release('a#1', { handled: at + 20 });
    const { token } = await granted(store, acquireRequest('a#2'));
    includes(await claim('a#2', { token, scheduledAt: at + 20 }), { outcome: 'taken' });
    includes(await claim('a#2', { token, scheduledAt: at + 21 }), { outcome: 'claimed' });
  },

  'records its update first': async ({ store, claim }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    const result = await claim('a#1', { token, scheduledAt: at + 20, update: { handled: at + 20 } });
    includes(result, { outcome: 'taken', claimed: at + 20 });
  },

  'more than a minute ahead of the store is too early, and claims nothing': async ({ store, claim }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    includes(await claim('a#1', { token, scheduledAt: at + 120_000 }), { outcome: 'too-early', claimed: 0 });
    includes(await claim('a#1', { token, scheduledAt: at + 60_000 }), { outcome: 'claimed' });
  },

  'of a replica that does not hold the lock takes nothing': async ({ store, claim }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    const update = { handled: at + 20 };
    const result = await claim('b#1', { token, scheduledAt: at + 20, update });
    includes(result, { outcome: 'not-leader', holder: 'a#1', claimed: 0 });
    includes(await claim('a#1', { token, scheduledAt: at + 20 }), { outcome: 'claimed' });
  },

  'of a free lock takes nothing': async ({ claim }) => {
    const result = await claim('a#1', { token: 1, scheduledAt: 1 });
    includes(result, { outcome: 'not-leader', holder: undefined, claimed: 0 });
  },

  'is a renewal too, also when the outcome is: claimed': (context) => renews(context, 20),
  'is a renewal too, also when the outcome is: taken': (context) => renews(context, -20),
  'is a renewal too, also when the outcome is: too early': (context) => renews(context, 120_000),
};

async function renews({ store, other, renew, claim }: RuleContext, aheadMs: number): Promise<void> {
  const { token, storeTime: at } = await granted(store, acquireRequest('a#1', { lifeMs: 30_000 }));
  await renew('a#1', { claimed: at }, { lifeMs: 30_000 });
  const update = { runEndedAt: at - 100 };
  await claim('a#1', { token, scheduledAt: at + aheadMs, lifeMs: 90_000, update });
  const refusal = await refused(other, acquireRequest('b#1'));
  above(refusal.ttlMs, 60_000);
  includes(refusal, { runEndedAt: at - 100 });
}
