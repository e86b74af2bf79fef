import { describe, expect, it } from '@jest/globals';
import { FAULTS } from './faults/index.js';
import { schedule } from './schedule.js';
import { namesOf } from './story.js';

function drawn(seed: number, count = 400): string[] {
  const acts = schedule(seed);
  return Array.from({ length: count }, () => acts.next().value).map(
    ({ faults, pauseMs }) => `${namesOf(faults)} after ${pauseMs}`,
  );
}

describe('The schedule of a soak', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(drawn(7)).toEqual(drawn(7));
    expect(drawn(7)).not.toEqual(drawn(8));
  });

  it('leaves no fault out', () => {
    const story = drawn(1).join('\n');
    expect(FAULTS.filter(({ name }) => !story.includes(name))).toEqual([]);
  });

  it('gives every fault a name of its own', () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  });
});
