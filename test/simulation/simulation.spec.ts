import { describe, expect, it } from '@jest/globals';
import { playStories } from './play.js';

describe('The core', () => {
  it('keeps every rule in stories by chance', async () => {
    const { failure } = await playStories({ seed: 1, count: 200 });
    expect(failure).toBeUndefined();
  });
});
