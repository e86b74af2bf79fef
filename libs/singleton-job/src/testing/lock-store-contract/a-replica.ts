import { equal, rejects } from 'node:assert/strict';
import { answers } from './answers.js';
import { bidOf, granted, refused } from './asking.js';
import { type Rules } from './scene.js';

export const A_REPLICA: Rules = {
  'gets every answer of a batch, in which the commands keep their order': async ({ store, renew, release }) => {
    const asked: Promise<object>[] = [];
    store.batch(() => {
      asked.push(store.acquire(bidOf('a#1')), renew('a#1'), release('a#1'), renew('a#1'));
    });
    const expected = [{ granted: true }, { held: true }, { released: true }, { held: false }];
    for (const [n, answer] of (await Promise.all(asked)).entries()) answers(answer, expected[n] ?? {});
  },

  'that closed its store is answered nothing, neither yes nor no': async ({ store, renew, claim, release }) => {
    await granted(store, bidOf('a#1'));
    await store.close();
    await store.close();
    equal(store.hearsReleases, false);
    const asked = [
      () => store.acquire(bidOf('a#1')),
      () => renew('a#1'),
      () => claim('a#1', { token: 1, scheduledAt: 1 }),
      () => release('a#1'),
      () => store.announce('a', []),
    ];
    for (const ask of asked) await rejects(ask, { code: 'STORE_UNREACHABLE' });
  },

  'that closed its store leaves the locks and the other replicas as they are': async ({ store, other }) => {
    await granted(store, bidOf('a#1'));
    await store.close();
    answers(await refused(other, bidOf('b#1')), { holder: 'a#1' });
    equal(other.hearsReleases, true);
  },
};
