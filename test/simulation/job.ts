import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Candidate, type Election } from '../../libs/singleton-job/src/leadership/election.js';
import { type OwnFields, type RunRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { type Backlog, type Term } from '../../libs/singleton-job/src/leadership/term.js';
import { type JobPlan } from './story.js';

/** Intervals with a longer delay are claimed, and a run that lasts longer has its start written. */
const LONG_MS = 10_000;

/** Why a run starts. */
export interface Cause {
  readonly occurrence?: number;
  readonly commandId?: string;
}

export interface Run {
  readonly term: Term;
  readonly fields: RunRecord;
  /** The record shows its start, so its end is written at once. */
  isWritten: boolean;
}

export interface JobObserver {
  runStarted(job: Job, run: Run, cause: Cause): void;
  runEnded(job: Job, run: Run): void;
  /** It was answered "started", and its run did not start. */
  triggerLost(commandId: string): void;
}

/** From a term to its runs: a fixed rate, cron with claims, or an interval. To be replaced by the real runs. */
export class Job implements Candidate {
  readonly kind = 'job';
  election: Election | undefined;
  #term: Term | undefined;
  #run: Run | undefined;
  #isClaiming = false;
  #isDraining = false;
  /** Timers of an earlier generation do nothing. */
  #generation = 0;

  constructor(
    readonly plan: JobPlan,
    readonly lifeMs: number,
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly observer: JobObserver,
  ) {}

  get name(): string {
    return this.plan.name;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  get isIdle(): boolean {
    return this.#run === undefined && !this.#isClaiming;
  }

  inherit({ record, left, claimsLostUntil, takenAt }: Backlog): OwnFields {
    const { lastScheduledAt, run } = left;
    // a leader that is gone: its last run is not known, or not its end
    const isOpen =
      record?.holder !== undefined &&
      (run?.endedAt === undefined || (this.plan.kind === 'interval' && this.plan.periodMs <= LONG_MS));
    const ended = isOpen ? { startedAt: takenAt, by: '', ...run, endedAt: takenAt } : run;
    return { lastScheduledAt: Math.max(lastScheduledAt ?? 0, claimsLostUntil), ...(ended && { run: ended }) };
  }

  lead(term: Term): void {
    this.#term = term;
    this.#isDraining = false;
    this.#generation += 1;
    term.signal.addEventListener('abort', () => {
      this.#abort();
    });
    if (this.plan.kind !== 'interval') this.#plan(term);
    else {
      const now = term.storeNow();
      const last = term.own.run;
      this.#wait(term, last ? Math.max(0, Math.min(last.endedAt ?? now, now) + this.plan.periodMs - now) : 0);
    }
  }

  drain(): void {
    this.#isDraining = true;
    this.#generation += 1;
  }

  #abort(): void {
    this.#term = undefined;
    this.#isClaiming = false;
    this.#generation += 1;
    const run = this.#run;
    if (run && !this.plan.isStubborn)
      this.#after(
        this.random() * 10,
        () => {
          this.#end(run);
        },
        true,
      );
  }

  // ---- fixed rate and cron: a grid on the wall clock

  #plan(term: Term): void {
    const { kind, periodMs, graceMs } = this.plan;
    const now = this.clock.wallNow();
    const slot = Math.floor(now / periodMs) * periodMs;
    if (kind === 'cron' && !this.#isClaiming && slot > (term.own.lastScheduledAt ?? 0)) {
      // the newest occurrence that nobody has handled runs, if it is not too late
      if (this.isIdle && now - slot <= graceMs) void this.#claim(term, { occurrence: slot });
      else term.set({ lastScheduledAt: slot });
    }
    this.#after(slot + periodMs - now, () => {
      const dueAt = this.clock.wallNow();
      if (kind === 'rate' && this.isIdle && term.isValid()) {
        this.#start(term, {});
        term.set({ lastScheduledAt: Math.floor(dueAt / periodMs) * periodMs });
      }
      this.#plan(term);
    });
  }

  /** The record shows the start before the run begins. */
  async #claim(term: Term, cause: Cause): Promise<void> {
    const generation = this.#generation;
    const { occurrence } = cause;
    const run = { startedAt: term.storeNow(), by: term.holder };
    this.#isClaiming = true;
    await term.save({ ...(occurrence !== undefined && { lastScheduledAt: occurrence }), run });
    if (this.#term !== term) return;
    this.#isClaiming = false;
    if (term.isValid()) this.#start(term, cause, run);
    else if (this.plan.kind === 'interval' && generation === this.#generation) this.#wait(term, this.plan.periodMs);
    this.election?.touch();
  }

  // ---- interval: by the clock of the store across leaders, by the monotonic clock within a term

  #wait(term: Term, ms: number): void {
    this.#after(ms, () => {
      if (!this.isIdle) return;
      if (!term.isValid()) this.#wait(term, this.plan.periodMs / 10);
      else if (this.plan.periodMs > LONG_MS) void this.#claim(term, {});
      else this.#start(term, {});
    });
  }

  trigger(term: Term, commandId: string) {
    if (!this.isIdle) return { outcome: 'running' };
    if (!term.isValid()) return { outcome: 'lease-unconfirmed' };
    const run = { startedAt: term.storeNow(), by: term.holder };
    this.#isClaiming = true;
    const settle = (isStarted: boolean): void => {
      if (this.#term !== term) return;
      this.#isClaiming = false;
      if (isStarted && term.isValid()) this.#start(term, { commandId }, run);
      else if (isStarted) this.observer.triggerLost(commandId);
    };
    return {
      outcome: 'started',
      fields: { run },
      act: () => {
        settle(true);
      },
      cancel: () => {
        settle(false);
      },
    };
  }

  // ---- runs

  #start(term: Term, cause: Cause, claimed?: RunRecord): void {
    const { plan } = this;
    const fields = claimed ?? { startedAt: term.storeNow(), by: term.holder };
    const run: Run = { term, fields, isWritten: claimed !== undefined };
    this.#run = run;
    // a triggered run starts the delay again
    if (plan.kind === 'interval') this.#generation += 1;
    this.observer.runStarted(this, run, cause);
    if (!run.isWritten)
      this.#after(
        LONG_MS,
        () => {
          if (this.#run !== run || this.#term !== term) return;
          run.isWritten = true;
          void term.save({ run: fields });
        },
        true,
      );
    this.#after(
      this.random() < 0.1 ? plan.longRunMs : plan.runMs * this.random(),
      () => {
        this.#end(run);
      },
      true,
    );
  }

  #end(run: Run): void {
    if (this.#run !== run) return;
    this.#run = undefined;
    this.observer.runEnded(this, run);
    const ended = { run: { ...run.fields, endedAt: run.term.storeNowAtMost() } };
    if (run.isWritten) void run.term.save(ended);
    else run.term.set(ended);
    const term = this.#term;
    if (term !== undefined && this.plan.kind === 'interval' && !this.#isDraining) this.#wait(term, this.plan.periodMs);
    this.election?.touch();
  }

  /** `isOfRun`: it comes whatever happens to the term. */
  #after(ms: number, what: () => void, isOfRun = false): void {
    const generation = this.#generation;
    this.clock.setTimer(ms, () => {
      if (isOfRun || generation === this.#generation) what();
    });
  }
}
