import { setTimeout as delay } from 'node:timers/promises';
import { overlaps } from '../../tools/replicas/history.js';
import { rivals } from '../contestants.js';
import { type Measure, sideBySide } from '../measure.js';
import { Replicas } from '../replicas.js';
import { mostAtOnce } from '../slots.js';

export const overlap: Measure = {
  name: 'overlap',
  title: 'Runs that take longer than the period',
  about: 'Three replicas, one job of 500 ms whose runs take 1.3 s.',
  mostlyWaits: true,
  run: ({ isQuick, pick }) =>
    sideBySide(rivals(isQuick), async (contestant) => {
      const slow = { name: 'slow', periodMs: 500, takesMs: 1_300 };
      await using replicas = await Replicas.start(contestant, { jobs: [slow], count: pick(3, 2) });
      await delay(pick(15_000, 3_000));
      const { runs } = replicas;
      return {
        runs: runs.length,
        'runs at once, at most': mostAtOnce(runs),
        'overlapping pairs': overlaps(runs).length,
      };
    }),
};
