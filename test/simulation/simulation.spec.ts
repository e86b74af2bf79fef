import { expect, it } from '@jest/globals';
import { playStories } from './play.js';

// `npm run simulate` plays 10,000
it('The core keeps every rule in fifty stories by chance', async () => {
  const { failure } = await playStories({ seed: 1, count: 50 });
  expect(failure).toBeUndefined();
});
