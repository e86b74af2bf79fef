import { beforeEach, describe, expect, it } from '@jest/globals';
import { type CallEnd, CallWatch } from './call-watch.js';
import { ProcessClock } from './process-clock.js';
import { Timeline } from './timeline.js';

describe('A leader of a @WhileLeader job', () => {
  let timeline: Timeline;
  let clock: ProcessClock;
  let watch: CallWatch;
  let leads: boolean;
  let missedMs: number[];
  const process = () => ({ name: 'a', clock, leads: () => leads });
  const call = (how: CallEnd): boolean => {
    watch.began(process(), 'feed');
    return watch.ended(process(), 'feed', how);
  };
  const missedAfter = async (forMs: number): Promise<number[]> => {
    await timeline.passUntil(timeline.nowMs + forMs);
    return missedMs;
  };

  beforeEach(() => {
    timeline = new Timeline();
    clock = new ProcessClock(timeline, { aheadMs: 0, rate: 1 });
    leads = true;
    missedMs = [];
    watch = new CallWatch(timeline, ({ dueMs }) => missedMs.push(dueMs));
    watch.led(process(), 'feed');
  });

  it('calls the method at once', async () => {
    watch.began(process(), 'feed');
    expect(await missedAfter(100)).toEqual([]);
  });

  it('breaks the rule if it does not call the method at once', async () => {
    expect(await missedAfter(100)).toEqual([50]);
  });

  it('breaks the rule if it does not call the method again after 1 s', async () => {
    call('returned');
    expect(await missedAfter(1_000)).toEqual([]);
    expect(await missedAfter(100)).toEqual([1_060]);
  });

  it('waits twice as long after the second throw in a row', async () => {
    call('threw');
    call('threw');
    expect(await missedAfter(2_000)).toEqual([]);
    expect(await missedAfter(100)).toEqual([2_070]);
  });

  it('steps down after every third throw in a row', async () => {
    const ends: CallEnd[] = ['threw', 'threw', 'returned', 'threw', 'threw', 'aborted', 'threw', 'threw'];
    expect(ends.map(call).flatMap((stepsDown, index) => (stepsDown ? [index] : []))).toEqual([6]);
    expect(await missedAfter(1)).toEqual([]);
  });

  it('need not call the method when it leads no longer, or while its clock stands still', async () => {
    leads = false;
    expect(await missedAfter(100)).toEqual([]);
    leads = true;
    call('returned');
    clock.halt('suspended');
    timeline.after(900, () => {
      clock.goOn();
    });
    expect(await missedAfter(1_800)).toEqual([]);
  });
});
