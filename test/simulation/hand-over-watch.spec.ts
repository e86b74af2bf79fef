import { beforeEach, describe, expect, it } from '@jest/globals';
import { HandOverWatch } from './hand-over-watch.js';
import { Timeline } from './timeline.js';

describe('A job that its leader gives back', () => {
  let timeline: Timeline;
  let watch: HandOverWatch;
  let holder: string | undefined;
  let isOrderly: boolean;
  let living: string[];
  let missed: string[];
  const missedAfterRelease = async (): Promise<string[]> => {
    watch.expect('feed', 'a', 'a has released it');
    await timeline.passUntil(timeline.nowMs + 100);
    return missed;
  };

  beforeEach(() => {
    timeline = new Timeline();
    holder = undefined;
    isOrderly = true;
    living = ['a', 'b'];
    missed = [];
    watch = new HandOverWatch({
      timeline,
      living: () => living.map((name) => ({ name, couldLeadSince: () => true })),
      holderOf: () => holder,
      isOrderly: () => isOrderly,
      boundMs: () => 50,
      missed: ({ rule, since }) => missed.push(`${rule}: ${since}`),
    });
  });

  it('is led by another replica that competes', async () => {
    holder = 'b';
    expect(await missedAfterRelease()).toEqual([]);
  });

  it.each([undefined, 'a'])('breaks the rule if its holder is then %s', async (name) => {
    holder = name;
    expect(await missedAfterRelease()).toEqual(['no-hand-over: a has released it, and b competes']);
  });

  it('stays without a leader if no other replica competes', async () => {
    watch.steppedDown('b', 'feed');
    expect(await missedAfterRelease()).toEqual([]);
    living = ['a'];
    await timeline.passUntil(10_000);
    expect(await missedAfterRelease()).toEqual([]);
  });

  it('is not given back if its leader dies at this moment', async () => {
    holder = 'a';
    living = ['b'];
    expect(await missedAfterRelease()).toEqual([]);
  });

  it('may be without a leader for longer during a fault', async () => {
    isOrderly = false;
    expect(await missedAfterRelease()).toEqual([]);
  });
});
