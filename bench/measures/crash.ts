import { heartbeatThread, heartbeatThreadOnPostgres } from '../contestants.js';
import { type Measure, sideBySide } from '../measure.js';
import { afterEnds } from './failover.js';

export const crash: Measure = {
  name: 'crash',
  title: 'Uncaught exception, or process.exit(), of the leader in mid-run',
  run: (scale) =>
    sideBySide([heartbeatThread, heartbeatThreadOnPostgres], async (one) => {
      const ends = scale.pick(100, 2);
      const by = (how: string) =>
        afterEnds(one, scale, {
          word: how,
          ends,
          end: async (victim) => {
            // it ends before it can answer
            await victim.request(how).catch(() => undefined);
            await victim.exited;
          },
        });
      return { ...(await by('exception')), ...(await by('exit')) };
    }),
};
