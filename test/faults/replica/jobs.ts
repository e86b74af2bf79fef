import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, FixedRate, Interval, type JobRun } from '../../../libs/singleton-job/src/index.js';
import { CRON_JOBS, GRID_PERIOD_MS } from './order.js';
import { tell } from './tell.js';

const SHORT_MS = 30;
const LONG_MS = 1_000;

let runs = 0;

/** One job of each kind, and long ones that do and do not obey their signal. */
@Injectable()
export class Jobs {
  @FixedRate(GRID_PERIOD_MS, { name: 'grid' })
  grid(run: JobRun): Promise<void> {
    return work(run, (signal) => delay(SHORT_MS, undefined, { signal }));
  }

  @Interval('300ms', { name: 'pause' })
  pause(run: JobRun): Promise<void> {
    return work(run, (signal) => delay(SHORT_MS, undefined, { signal }));
  }

  @Cron(CRON_JOBS.cron, { name: 'cron' })
  cron(run: JobRun): Promise<void> {
    return work(run, (signal) => delay(SHORT_MS, undefined, { signal }));
  }

  @Cron(CRON_JOBS['long-cron'], { name: 'long-cron' })
  longCron(run: JobRun): Promise<void> {
    return work(run, (signal) => delay(LONG_MS, undefined, { signal }));
  }

  @FixedRate(GRID_PERIOD_MS, { name: 'obedient' })
  obedient(run: JobRun): Promise<void> {
    return work(run, (signal) => delay(LONG_MS, undefined, { signal }));
  }

  @Interval('200ms', { name: 'stubborn' })
  stubborn(run: JobRun): Promise<void> {
    return work(run, () => delay(LONG_MS));
  }
}

/** Tells the witness of the run before it does anything, of its signal, and of its end. */
async function work(run: JobRun, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
  runs += 1;
  const facts = { job: run.job, run: runs };
  tell('runBegan', {
    ...facts,
    token: run.fencingToken,
    scheduledAt: run.scheduledAt.getTime(),
    cause: run.cause,
  });
  run.signal.addEventListener('abort', () => {
    tell('abortSeen', facts);
  });
  try {
    await task(run.signal);
  } finally {
    tell('runEnded', facts);
  }
}
