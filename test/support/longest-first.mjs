import Sequencer from '@jest/test-sequencer';

const PROJECTS = ['faults', 'simulation', 'processes', 'integration', 'contract', 'docs', 'types', 'unit'];

/** In a fresh clone Jest knows no durations. It would go by the size of files, and end with short ones that take a minute. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ context }) => PROJECTS.indexOf(context.config.displayName.name);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
