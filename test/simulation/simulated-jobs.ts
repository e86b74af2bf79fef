import { type JobRun } from '../../libs/singleton-job/src/jobs/job-run.js';
import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { fixedRate } from '../../libs/singleton-job/src/schedule/fixed-rate.js';
import { whileLeader } from '../../libs/singleton-job/src/schedule/while-leader.js';
import { interval } from '../../libs/singleton-job/src/schedule/interval.js';
import { type AnySchedule, type CronSchedule } from '../../libs/singleton-job/src/schedule/schedule.js';
import { job } from '../../libs/singleton-job/src/testing/specs/job.js';
import { RESTART_DELAY_MS } from './call-watch.js';
import { Chance } from './chance.js';
import { type JobName, JOBS, type Kind, type Plan, safetyMarginMs, type Version } from './plan.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type Recorder } from './recorder.js';

export interface JobParts {
  readonly plan: Plan;
  readonly version: Version;
  readonly cron: CronSchedule;
  readonly recorder: Recorder;
}

/** The part of the safety margin that a run needs at most to settle after its signal. The drift of the clocks needs some of the rest. */
const SETTLES_WITHIN = 0.8;
const LONGEST_RUN_MS = 6_000;

/** The jobs of one process. Their runs take some time, sometimes too much, and sometimes fail. */
export function simulatedJobs(process: SimulatedProcess, { plan, version, cron, recorder }: JobParts): Job[] {
  const { setting, seed } = plan;
  const { clock, name } = process;
  const chance = Chance.of(seed, `${name}'s jobs`);
  /** On some replicas the methods of `@WhileLeader` throw nearly each time. */
  const isBroken = Chance.of(seed, `${name}'s failures`).happens(0.3);

  const run = (given: JobRun): Promise<void> => {
    const lockExpiryMs = version.lockExpiryMs[given.job as JobName];
    const kind = version.kinds[given.job as JobName];
    const isCall = kind === 'while-leader';
    const ignoresSignal = chance.happens(setting.ignoringSignal);
    const shares = chance.pick([0, 0, 0.1, 0.4, 0.8, 2]);
    const fails = chance.happens(isCall && isBroken ? 0.9 : 0.05);
    // most calls of a consumer end with their signal
    const isEndless = isCall && !fails && chance.happens(0.7);
    const lastsMs = isEndless ? Infinity : Math.min(2 + shares * lockExpiryMs, LONGEST_RUN_MS);
    const longestMs = SETTLES_WITHIN * safetyMarginMs(lockExpiryMs);
    const settlesMs = chance.between(0, isCall && ignoresSignal ? LONGEST_RUN_MS : longestMs);
    const seen = recorder.began(process, given, { kind, settleMs: longestMs });
    process.passed('run begun');
    return new Promise((resolve, reject) => {
      const done = clock.setTimer(lastsMs, () => {
        seen.ended(given.signal.aborted ? 'aborted' : fails ? 'threw' : 'returned');
        process.passed('run ended');
        if (fails) reject(new Error('the job failed'));
        else resolve();
      });
      given.signal.addEventListener('abort', () => {
        seen.aborted();
        if (ignoresSignal && !isCall) return;
        done.cancel();
        // it settles slowly, but within the safety margin unless it ignores its signal
        clock.setTimer(settlesMs, () => {
          seen.ended('aborted');
          reject(given.signal.reason as Error);
        });
      });
    });
  };

  const schedules: Readonly<Record<Kind, AnySchedule>> = {
    'fixed-rate': fixedRate(setting.periodMs, { offsetMs: 0 }),
    interval: interval(setting.delayMs),
    cron,
    'while-leader': whileLeader(RESTART_DELAY_MS),
  };
  return JOBS.map((name) =>
    job({
      name,
      schedule: schedules[version.kinds[name]],
      lockExpiryMs: version.lockExpiryMs[name],
      ...(version.kinds[name] === 'while-leader' && { warnAfterMs: undefined }),
      misfireGraceMs: setting.misfireGraceMs,
      overlap: version.kinds[name] === 'cron' ? setting.overlap : 'skip',
      run,
    }),
  );
}
