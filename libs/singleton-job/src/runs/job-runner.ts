import { inContextOf } from '../base/events/caller-context.js';
import { type LeadershipReleaseReason } from '../base/events/reasons.js';
import { runnerFailed } from '../base/events/warnings.js';
import { backoffMs, type BackoffPolicy } from '../base/time/backoff.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { onAbort } from '../base/time/on-abort.js';
import { Sleeper } from '../base/time/sleeper.js';
import { type Job } from '../jobs/job.js';
import { type Order } from '../leadership/decide.js';
import { type Candidate, type Election, STAND_BACK_MS } from '../leadership/election.js';
import { jobRecord, type OwnFields } from '../leadership/record.js';
import { type Backlog, type Term } from '../leadership/term.js';
import { cronLoop } from './cron-loop.js';
import { fixedRateLoop } from './fixed-rate-loop.js';
import { inherit } from './inheritance.js';
import { intervalLoop } from './interval-loop.js';
import { recordOf, type RunnerParts } from './run-handle.js';
import { SingleFlight } from './single-flight.js';
import { type TickLoopParts } from './tick-loop.js';
import { whileLeaderLoop } from './while-leader-loop.js';

/** What a runner needs beside what a run needs. */
interface JobRunnerParts extends RunnerParts {
  readonly storeName: string;
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called when a term begins. What it returns is called when nothing of the term runs any more. */
  readonly watch: (signal: AbortSignal) => () => void;
}

/** Runs one job during the terms that its election wins, one at a time. */
export class JobRunner implements Candidate {
  readonly kind = 'job';
  readonly name: string;
  /** The run in flight, and the last one. */
  readonly runs: SingleFlight;
  #election: Election | undefined;
  /** Ends the ticks of the present term, with a `LeadershipReleaseReason`. Undefined: nothing of a term runs. */
  #stop: AbortController | undefined;
  /** Aborts when the ticks of the present term, or of the last one, end. */
  #quit: AbortSignal | undefined;
  #failures = 0;

  constructor(private readonly parts: JobRunnerParts) {
    this.name = jobRecord(parts.job.name);
    this.runs = new SingleFlight(parts);
  }

  get job(): Job {
    return this.parts.job;
  }

  get lifeMs(): number {
    return this.job.lockExpiryMs;
  }

  /** Nothing of a term runs. */
  get isIdle(): boolean {
    return this.#stop === undefined;
  }

  /** The election that calls this runner. */
  elect(election: Election): void {
    this.#election = election;
  }

  inherit(backlog: Backlog): OwnFields {
    return inherit(this.job.schedule, backlog);
  }

  /** Fires the ticks of one term until the term ends or is given back. The end of the term aborts the run in flight; giving back lets it finish. */
  lead(term: Term): void {
    const stop = new AbortController();
    this.#stop = stop;
    const stopWatching = this.parts.watch(term.signal);
    void this.#spend(term, stop.signal).finally(() => {
      stopWatching();
      this.#stop = undefined;
      this.#election?.touch();
    });
  }

  drain(reason: LeadershipReleaseReason): void {
    this.#stop?.abort(reason);
  }

  /** Runs the job outside its schedule, unless a run is in flight or the term may not start one. The claim of the run is the answer. */
  trigger(term: Term, commandId: string): Omit<Order, 'id' | 'until'> {
    const { runs } = this;
    if (runs.isBusy) return { outcome: 'running' };
    if (this.#quit?.aborted !== false || runs.isClosed || !term.isValid()) return { outcome: 'lease-unconfirmed' };
    const run = recordOf(term);
    const giveUp = runs.reserve();
    const remove = onAbort(term.signal, giveUp);
    const cancel = (): void => {
      remove();
      giveUp();
    };
    const act = (): void => {
      const tick = { scheduledAt: new Date(this.parts.clock.wallNow()), cause: 'trigger' } as const;
      if (term.isValid() && !runs.isClosed) inContextOf(commandId, () => runs.start(tick, term, run));
      // last: between the two nothing would run, and the job would be given back
      cancel();
    };
    return { outcome: 'started', fields: { run }, act, cancel };
  }

  /** Settles when nothing of the term runs. Never rejects. */
  async #spend(term: Term, stop: AbortSignal): Promise<void> {
    const { notify, backoff, random } = this.parts;
    try {
      await this.#tick(term, stop);
      if (term.end === undefined && !stop.aborted)
        throw new Error(`the runner of job '${this.job.name}' ended before its term`);
      this.#failures = 0;
    } catch (error: unknown) {
      this.#failures += 1;
      notify('warning', runnerFailed(this.job.name, error));
      // it may fail on this replica only
      this.#election?.stepDown('runner-failed', Math.max(STAND_BACK_MS, backoffMs(this.#failures, backoff, random)));
    }
  }

  async #tick(term: Term, stop: AbortSignal): Promise<void> {
    const { runs } = this;
    const quitting = new LinkedAbortController(term.signal, stop);
    const quit = quitting.signal;
    this.#quit = quit;
    const remove = onAbort(term.signal, () => {
      runs.abort('LEASE_LOST');
    });
    try {
      const stepDown = (): void => this.#election?.stepDown('failed-calls');
      const sleeper = new Sleeper(this.parts.clock, quit);
      const parts: TickLoopParts = { ...this.parts, term, runs, stop, quit, stepDown, sleeper };
      const { run } = term.backlog.left;
      if (run !== undefined && run.endedAt === undefined)
        this.parts.notify('runInterrupted', { job: this.job.name, startedAt: new Date(run.startedAt), by: run.by });
      await tickLoop(parts);
    } finally {
      await runs.whenIdle();
      remove();
      quitting.dispose();
    }
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
