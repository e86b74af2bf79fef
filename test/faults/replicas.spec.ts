import { describe, it } from '@jest/globals';
import * as clocks from '../../tools/faults/faults/clock-faults.js';
import * as processes from '../../tools/faults/faults/process-faults.js';
import { schedule } from '../../tools/faults/schedule.js';
import { type Fault } from '../../tools/faults/fault.js';
import { type Act } from '../../tools/faults/story.js';
import { expectKept, useActs } from './support/use-stories.js';

const acts = (...faults: readonly Fault[]): Act[] => faults.map((fault) => ({ faults: [fault], pauseMs: 300 }));
const SEED = 3;
const RANDOM_ACTS = 4;

const stories = useActs([
  acts(processes.KILL, processes.STOPPED, processes.BLOCKED, clocks.AHEAD),
  acts(processes.ROLLING, clocks.BEHIND),
  acts(clocks.A_DAY_AHEAD),
  firstOf(RANDOM_ACTS),
]);

describe('a leader', () => {
  it.each([
    ['is stopped and goes on (SIGSTOP, SIGCONT)', processes.STOPPED],
    ['blocks its event loop', processes.BLOCKED],
  ])('that %s after its lock has expired starts nothing it should not, and another led in time', (_, fault) => {
    expectKept(stories.of(fault));
  });

  it('that is killed is replaced when its locks expire', () => {
    expectKept(stories.of(processes.KILL));
  });

  it.each([
    ['ahead', clocks.AHEAD],
    ['back', clocks.BEHIND],
  ])('whose wall clock steps %s, and back again, loses and doubles nothing', (_, fault) => {
    expectKept(stories.of(fault));
  });
});

describe('a rolling deploy', () => {
  it('hands its jobs over, and nothing overlaps, is doubled or lost', () => {
    expectKept(stories.of(processes.ROLLING));
  });
});

describe('a replica whose clock is a day ahead', () => {
  it('takes part, and loses and doubles nothing', () => {
    expectKept(stories.of(clocks.A_DAY_AHEAD));
  });
});

/** What the seed draws: each act is judged with the whole record of its fleet. */
function firstOf(count: number): Act[] {
  const drawn = schedule(SEED);
  return Array.from({ length: count }, () => drawn.next().value);
}
