import Sequencer from '@jest/test-sequencer';

const LONGEST = ['simulation', 'processes', 'integration', 'contract', 'docs'];

/** In a fresh clone Jest knows no durations. It would go by the size of files, and end with short ones that take a minute. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ context }) => LONGEST.indexOf(context.config.displayName.name) + 1 || Infinity;
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
