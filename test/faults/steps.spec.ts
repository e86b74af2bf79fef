import { describe, expect, it } from '@jest/globals';
import { arrives, LATE_COMMANDS } from '../../tools/faults/faults/late-command-faults.js';
import { killedAt, STEPS } from '../../tools/faults/faults/step-faults.js';
import { expectKept, useStories } from './support/use-stories.js';

const stories = useStories([...STEPS.map(killedAt), ...LATE_COMMANDS.map(arrives)], { fleets: 4 });

describe('a replica that is killed between two steps', () => {
  it.each(STEPS)('$name: each occurrence is started once or reported once, and another leads in time', (step) => {
    expectKept(stories.of(killedAt(step)));
  });

  it.each(STEPS.filter(({ name }) => name === 'claimed, not told' || name === 'claim sent, and it arrives'))(
    '$name: the next leader reports what was claimed and never begun',
    (step) => {
      expect(stories.of(killedAt(step)).reports.map(({ reason }) => reason)).toContain('start-not-confirmed');
    },
  );
});

describe('a command of a term that has ended', () => {
  it.each(LATE_COMMANDS)('$command, which arrives $how, changes nothing for who leads by then', (command) => {
    expectKept(stories.of(arrives(command)));
  });
});
