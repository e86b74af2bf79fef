import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { type InMemoryLockStore, ownerOf } from '../../libs/singleton-job/src/store/index.js';
import { type CronSchedule, fixedRate, interval } from '../../libs/singleton-job/src/schedule/index.js';
import { job } from '../support/fleet.js';
import { Chance } from './chance.js';
import { type Plan, safetyMarginMs } from './plan.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type Witness } from './witness.js';

export interface JobParts {
  readonly plan: Plan;
  readonly cron: CronSchedule;
  readonly witness: Witness;
  readonly server: InMemoryLockStore;
}

/** The part of the safety margin that a run takes at most to settle after its signal. */
export const SETTLES_WITHIN = 0.8;

/** The jobs of one process: one of each kind, which take their time, sometimes too much of it, and sometimes fail. */
export function simulatedJobs(process: SimulatedProcess, { plan, cron, witness, server }: JobParts): JobDefinition[] {
  const { setting, seed } = plan;
  const { lockExpiryMs } = setting;
  const { clock, name } = process;
  const chance = Chance.of(seed, `${name}'s jobs`);

  const run = (given: JobRun): Promise<void> => {
    const holder = server.holderOf(given.job);
    const isStubborn = chance.happens(setting.stubborn);
    const lastsMs = chance.pick([2, 2, 0.1 * lockExpiryMs, 0.4 * lockExpiryMs, 0.8 * lockExpiryMs, 2 * lockExpiryMs]);
    const fails = chance.happens(0.05);
    const settlesMs = chance.between(0, SETTLES_WITHIN) * safetyMarginMs(lockExpiryMs);
    const seen = witness.began({
      process: name,
      run: given,
      clock,
      heldLock: holder !== undefined && ownerOf(holder) === name,
    });
    process.passed('run begun');
    return new Promise((resolve, reject) => {
      const done = clock.setTimer(lastsMs, () => {
        seen.ended();
        process.passed('run ended');
        if (fails) reject(new Error('the job failed'));
        else resolve();
      });
      given.signal.addEventListener('abort', () => {
        seen.aborted();
        if (isStubborn) return;
        done.cancel();
        // it takes its time, but less than the safety margin
        clock.setTimer(settlesMs, () => {
          seen.ended();
          reject(given.signal.reason as Error);
        });
      });
    });
  };

  const common = { lockExpiryMs, misfireGraceMs: setting.misfireGraceMs, run };
  return [
    job({ ...common, name: 'grid', schedule: fixedRate(setting.periodMs, { offsetMs: 0 }) }),
    job({ ...common, name: 'pause', schedule: interval(setting.delayMs) }),
    job({ ...common, name: 'cron', schedule: cron, overlap: setting.overlap }),
  ];
}
