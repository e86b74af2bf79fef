import { expect, it } from '@jest/globals';
import { playStories } from './play.js';

// shares, so that each is over within the limit of a test also on a busy machine; `npm run simulate` plays 10,000
it.each([1, 2])('The core keeps every rule in fifty stories by chance, of the seed %i', async (seed) => {
  const { failure } = await playStories({ seed, count: 50 });
  expect(failure).toBeUndefined();
});
