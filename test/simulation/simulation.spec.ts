import { describe, expect, it } from '@jest/globals';
import { PAIRS } from './pairs.js';
import { playPairs, playStories } from './play.js';

describe('The core', () => {
  it('keeps every rule in stories by chance', async () => {
    const { failure } = await playStories({ seed: 1, count: 200 });
    expect(failure).toBeUndefined();
  });

  it('keeps every rule in pairs of faults', async () => {
    // a prime, so that all moments and faults are among them
    const pairs = Array.from({ length: 40 }, (_, n) => (n * 1_873) % PAIRS);
    expect((await playPairs(pairs)).failure).toBeUndefined();
  });
});
