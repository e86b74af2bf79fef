import { above, answers } from './answers.js';
import { bidOf, granted, refused } from './asking.js';
import { type Rules, type Scene } from './scene.js';

export const A_CLAIM: Rules = {
  'takes an occurrence once, and what came before it with it': async ({ store, claim }) => {
    const { token, time } = await granted(store, bidOf('a#1'));
    answers(await claim('a#1', { token, scheduledAt: time + 20 }), { outcome: 'claimed', last: time + 20 });
    answers(await claim('a#1', { token, scheduledAt: time + 10 }), { outcome: 'taken', last: time + 20 });
    answers(await claim('a#1', { token, scheduledAt: time + 30 }), { outcome: 'claimed' });
  },

  'that is repeated, because its answer was lost, is known as the same': async ({ store, claim }) => {
    const { token, time } = await granted(store, bidOf('a#1'));
    await claim('a#1', { token, scheduledAt: time + 20 });
    answers(await claim('a#1', { token, scheduledAt: time + 20 }), { outcome: 'mine', last: time + 20 });
  },

  'of an earlier term stands against the next one': async ({ store, claim, release }) => {
    const first = await granted(store, bidOf('a#1'));
    const scheduledAt = first.time + 20;
    await claim('a#1', { token: first.token, scheduledAt });
    await release('a#1');
    const { token } = await granted(store, bidOf('a#2'));
    answers(await claim('a#2', { token, scheduledAt }), { outcome: 'taken' });
  },

  'of what was fired before comes too late': async ({ store, claim, release }) => {
    const { time } = await granted(store, bidOf('a#1'));
    await release('a#1', { last: time + 20 });
    const { token } = await granted(store, bidOf('a#2'));
    answers(await claim('a#2', { token, scheduledAt: time + 20 }), { outcome: 'taken' });
    answers(await claim('a#2', { token, scheduledAt: time + 21 }), { outcome: 'claimed' });
  },

  'more than a minute ahead of the store is too early, and nothing is claimed': async ({ store, claim }) => {
    const { token, time, last } = await granted(store, bidOf('a#1'));
    answers(await claim('a#1', { token, scheduledAt: time + 120_000 }), { outcome: 'too-early', last });
    answers(await claim('a#1', { token, scheduledAt: time + 60_000 }), { outcome: 'claimed' });
  },

  'by somebody who does not hold the lock takes nothing': async ({ store, claim }) => {
    const { token, time } = await granted(store, bidOf('a#1'));
    answers(await claim('b#1', { token, scheduledAt: time + 20 }), { outcome: 'not-leader' });
    answers(await claim('a#1', { token, scheduledAt: time + 20 }), { outcome: 'claimed' });
  },

  'is a renewal too, also when the answer is: claimed': (scene) => renews(scene, 20),
  'is a renewal too, also when the answer is: taken': (scene) => renews(scene, -20),
  'is a renewal too, also when the answer is: too early': (scene) => renews(scene, 120_000),
};

async function renews({ store, other, claim }: Scene, aheadMs: number): Promise<void> {
  const { token, time } = await granted(store, bidOf('a#1', { lockExpiryMs: 30_000 }));
  await claim('a#1', { token, scheduledAt: time + aheadMs, lockExpiryMs: 90_000 });
  above((await refused(other, bidOf('b#1'))).ttlMs, 60_000);
}
