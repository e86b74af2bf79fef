import { above, answers } from './answers.js';
import { bidOf, granted } from './asking.js';
import { type Rules } from './scene.js';

const SHORT_MS = 40;

/** The state of a lock that is no job's, which would otherwise stay for every name that was ever locked. */
export const A_STATE_WITH_AN_END: Rules = {
  'is forgotten that long after the lock was last granted, and the next token is larger all the same': async ({
    world,
    store,
    other,
    release,
  }) => {
    const first = await granted(store, bidOf('a#1', { stateTtlMs: SHORT_MS }));
    await release('a#1');
    await world.passTime(2 * SHORT_MS);
    const second = await granted(other, bidOf('b#1', { stateTtlMs: SHORT_MS }));
    above(second.born, first.born);
    above(second.token, first.token);
  },

  'is remembered until then': async ({ world, store, other, release }) => {
    const { born } = await granted(store, bidOf('a#1', { stateTtlMs: 600_000 }));
    await release('a#1');
    await world.passTime(2 * SHORT_MS);
    answers(await granted(other, bidOf('b#1', { stateTtlMs: 600_000 })), { born });
  },

  'is given time anew by each grant, and by nothing else': async ({ world, store, renew, release }) => {
    await granted(store, bidOf('a#1', { stateTtlMs: SHORT_MS }));
    const { born } = await granted(store, bidOf('a#1', { stateTtlMs: 600_000 }));
    await world.passTime(2 * SHORT_MS);
    await release('a#1');
    const second = await granted(store, bidOf('a#2', { stateTtlMs: SHORT_MS }));
    answers(second, { born });
    await renew('a#2');
    await world.passTime(2 * SHORT_MS);
    await renew('a#2');
    await release('a#2');
    above((await granted(store, bidOf('a#3', { stateTtlMs: SHORT_MS }))).born, born);
  },

  'is not that of a job, which stays': async ({ world, store, other, release }) => {
    const { born } = await granted(store, bidOf('a#1'));
    await release('a#1');
    await world.passTime(2 * SHORT_MS);
    answers(await granted(other, bidOf('b#1')), { born });
  },
};
