import { type Job } from '../jobs/job.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Term } from '../leadership/term.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { onAbort } from '../base/time/on-abort.js';
import { Sleeper } from '../base/time/sleeper.js';
import { cronLoop } from './cron-loop.js';
import { fixedRateLoop } from './fixed-rate-loop.js';
import { firstIntervalRun, intervalLoop, noteIntervalEnd, noteIntervalStart } from './interval-loop.js';
import { type RunnerParts } from './run-handle.js';
import { SingleFlight } from './single-flight.js';
import { type TickLoopParts } from './tick-loop.js';
import { reportUnhandled } from './unhandled-occurrences.js';
import { whileLeaderLoop } from './while-leader-loop.js';

/** The run that was started, or why no run was started. */
type Triggered = RunInfo | 'running' | 'lease-unconfirmed';

interface JobRunnerParts extends RunnerParts {
  /** Gives the leadership to another replica, because several calls in a row have failed. */
  readonly stepDown: () => void;
}

/** Runs one job during the terms that its election wins, one at a time. */
export class JobRunner {
  /** The run in flight, and the last one. */
  readonly runs: SingleFlight;
  /** Aborts when the ticks of the present term, or the last one, end. */
  #quit: AbortSignal | undefined;

  constructor(private readonly parts: JobRunnerParts) {
    this.runs = new SingleFlight(parts, (term) => {
      noteIntervalEnd(parts.job, term);
    });
  }

  get job(): Job {
    return this.parts.job;
  }

  /**
   * Fires the ticks of one term until the term ends or `stop` aborts. The end of the term aborts the run in flight; `stop` lets it finish.
   * Settles when no run is in flight.
   */
  async lead(term: Term, stop: AbortSignal): Promise<void> {
    const { runs } = this;
    const quitting = new LinkedAbortController(term.signal, stop);
    const quit = quitting.signal;
    this.#quit = quit;
    const remove = onAbort(term.signal, () => {
      runs.abort('LEASE_LOST');
    });
    try {
      const parts: TickLoopParts = {
        ...this.parts,
        term,
        runs,
        stop,
        quit,
        sleeper: new Sleeper(this.parts.clock, quit),
      };
      reportUnhandled(parts);
      await tickLoop(parts);
    } finally {
      await runs.whenIdle();
      remove();
      quitting.dispose();
    }
  }

  /** How long until the next tick of this term is due. 0 during a run, and for a job without ticks. */
  untilDueMs(term: Term): number {
    const { runs } = this;
    const { clock } = this.parts;
    const { schedule } = this.job;
    if (runs.isBusy || schedule.kind === 'while-leader') return 0;
    if (schedule.kind === 'interval')
      return Math.max(firstIntervalRun(schedule, term).dueMs, schedule.next(runs.endedAtMs)) - clock.now();
    const now = clock.wallNow();
    if (schedule.kind === 'cron') {
      // an occurrence may be due by either clock and not be claimed yet
      const handled = Math.max(term.newestTick, term.backlog.claimed);
      if (schedule.latest(handled, Math.max(now, term.storeClock.now())) !== undefined) return 0;
    }
    return (schedule.next(now) ?? Infinity) - now;
  }

  /** Runs the job now, outside its schedule, unless a run is in flight or the term may not start a run. */
  async trigger(term: Term): Promise<Triggered> {
    const { runs } = this;
    if (!runs.isBusy) await noteIntervalStart(this.job, term);
    if (runs.isBusy) return 'running';
    // the term may have been given back meanwhile
    const isOver = this.#quit?.aborted !== false || runs.isClosed;
    if (isOver || !term.isValid()) return 'lease-unconfirmed';
    return runs.start({ scheduledAt: new Date(this.parts.clock.wallNow()), cause: 'trigger' }, term);
  }
}

function tickLoop(parts: TickLoopParts): Promise<void> {
  const { schedule } = parts.job;
  switch (schedule.kind) {
    case 'fixed-rate':
      return fixedRateLoop(schedule, parts);
    case 'interval':
      return intervalLoop(schedule, parts);
    case 'cron':
      return cronLoop(schedule, parts);
    case 'while-leader':
      return whileLeaderLoop(schedule, parts);
  }
}
