import { type Reason } from '../base/events/events.js';
import { runnerFailed } from '../base/events/warnings.js';
import { backoffMs } from '../base/time/backoff.js';
import { type Timer } from '../base/time/clock.js';
import { contextOf } from '../commands/caller-context.js';
import { Replies } from '../commands/replies.js';
import { type Candidate } from '../leadership/candidate.js';
import { type Election, STAND_BACK_MS } from '../leadership/election.js';
import { type Predecessor } from '../leadership/record-view.js';
import { type Command, jobRecord, type LeaderFields, type Reply } from '../leadership/record.js';
import { type TermHandle } from '../leadership/term.js';
import { CronLoop } from './cron-loop.js';
import { onceLoop } from './first-run.js';
import { fixedRateLoop } from './fixed-rate-loop.js';
import { inherit } from './inheritance.js';
import { intervalLoop } from './interval-loop.js';
import { runRecordOf, type RunnerParts } from './run.js';
import { SingleFlight } from './single-flight.js';
import { Sleeper } from './sleeper.js';
import { type TickLoopParts } from './tick-loop.js';
import { whileLeaderLoop } from './while-leader-loop.js';

/** A job of this replica: competes for it, and runs it during the terms that it wins, one at a time. */
export class JobRunner implements Candidate {
  readonly isBalanced = true;
  readonly job = this.parts.job;
  readonly name = jobRecord(this.job.name);
  readonly ttlMs = this.job.lockExpiryMs;
  readonly schedule = this.job.schedule.description;
  /** The run in flight, and the last one. */
  readonly runs = new SingleFlight(this.parts);
  /** Undefined: it does not compete for the job, which is disabled or not started yet. */
  election: Election | undefined;
  /** To commands in the last term. Undefined: there was none in it. */
  replies: Replies | undefined;
  #initialDelay: Timer | undefined;
  /** By which the ticks of the present term wait. Undefined: nothing of a term runs. */
  #sleeper: Sleeper | undefined;
  #failures = 0;

  constructor(
    private readonly parts: RunnerParts,
    /** Called when a term begins. */
    private readonly watch: (term: TermHandle) => void,
  ) {}

  /** Nothing of a term runs. */
  get isIdle(): boolean {
    return this.#sleeper === undefined;
  }

  /** Begins to compete, after the `initialDelay` of the job. */
  compete(): void {
    const { initialDelayMs } = this.job;
    const election = (this.election = this.parts.replica.electionFor(this));
    const compete = election.compete.bind(election);
    if (initialDelayMs > 0) this.#initialDelay = this.parts.clock.setTimer(initialDelayMs, compete);
    else compete();
  }

  /** Competes no more. Resolves when the job is released and no run is in flight. */
  async withdraw(reason: Reason<'leadershipReleased'>): Promise<void> {
    this.#initialDelay?.cancel();
    await this.election?.withdraw(reason);
  }

  inherit(predecessor: Predecessor): LeaderFields {
    return inherit(this.job.schedule, predecessor);
  }

  /**
   * Fires the ticks of one term until the term ends or is being released. The end of the term aborts the run in flight;
   * a release lets it finish.
   */
  lead(term: TermHandle): void {
    const sleeper = (this.#sleeper = new Sleeper(this.parts.clock));
    this.replies = undefined;
    this.watch(term);
    term.whenOver(() => {
      this.runs.inFlight?.abort('LEASE_LOST');
      sleeper.end();
    });
    void this.#tick(term, sleeper);
  }

  drain(reason: Reason<'leadershipReleased'>): void {
    this.#sleeper?.end();
    this.#abortWhileLeader(reason);
  }

  /** Its run lasts as long as the leadership. A lost lease has aborted it before. */
  #abortWhileLeader(reason: Reason<'leadershipReleased'>): void {
    const code = reason === 'shutdown' ? 'SHUTDOWN' : 'STEPPED_DOWN';
    if (this.job.schedule.kind === 'while-leader') this.runs.inFlight?.abort(code);
  }

  reply(command: Command | undefined, term: TermHandle): Reply | undefined {
    const { storeView } = this.parts.replica.context;
    if (command !== undefined) this.replies ??= new Replies(term, storeView, (one) => this.#replyTo(term, one));
    return this.replies?.next(command);
  }

  #replyTo(term: TermHandle, command: Command): Reply {
    if (command.action === 'trigger') return this.#trigger(term, command);
    this.election?.stepDown('stepped-down');
    return { ...command, outcome: 'stepped-down' };
  }

  /**
   * Runs the job outside its schedule, unless a run is in flight or the term may not start one. The claim of the run is
   * the reply.
   */
  #trigger(term: TermHandle, command: Command): Reply {
    const { runs } = this;
    if (runs.isBusy) return { ...command, outcome: 'running' };
    if (this.#sleeper?.isOver !== false || runs.isClosed || !term.isValid())
      return { ...command, outcome: 'lease-unconfirmed' };
    const record = runRecordOf(term);
    runs.reserve();
    const settle = (isShown: boolean): void => {
      const scheduledAt = this.parts.clock.wallNow();
      if (isShown && term.isValid() && !runs.isClosed)
        runs.start({ term, record, scheduledAt, cause: 'trigger' }, contextOf(command.id));
      // the record shows its start, and its caller may wait for its end
      else if (isShown) void term.save({ run: { ...record, endedAt: record.startedAt, outcome: 'cancelled' } });
      // a drain that came before has aborted nothing
      if (term.release !== undefined) this.#abortWhileLeader(term.release.reason);
      runs.free();
    };
    return { ...command, outcome: 'started', fields: { run: record }, settle };
  }

  /** Never rejects. */
  async #tick(term: TermHandle, sleeper: Sleeper): Promise<void> {
    const { runs } = this;
    const { job, notify } = this.parts;
    const { run } = term.predecessor.fields;
    if (run !== undefined && run.endedAt === undefined) {
      const occurrence = run.scheduledAt === undefined ? null : new Date(run.scheduledAt);
      notify('runInterrupted', { job: job.name, startedAt: new Date(run.startedAt), by: run.by, occurrence });
      // the take left out its end: written now, so that no later leader reports it again
      void term.save({});
    }
    try {
      await tickLoop({ term, runs, election: this.election, sleeper, ...this.parts });
      if (!sleeper.isOver) throw new Error(`the runner of job '${job.name}' ended before its term`);
      this.#failures = 0;
    } catch (error: unknown) {
      this.#failures += 1;
      notify('warning', runnerFailed(job.name, error));
      // it may fail on this replica only
      this.election?.stepDown('runner-failed', backoffMs(STAND_BACK_MS, this.#failures));
    }
    await runs.whenIdle();
    this.#sleeper = undefined;
    this.election?.enqueue();
  }
}

function tickLoop(parts: TickLoopParts): Promise<void> {
  const { schedule } = parts.job;
  if (schedule.kind === 'fixed-rate') return fixedRateLoop(schedule, parts);
  if (schedule.kind === 'interval') return intervalLoop(schedule, parts);
  if (schedule.kind === 'cron') return new CronLoop(schedule, parts).run();
  if (schedule.kind === 'once') return onceLoop(parts);
  return whileLeaderLoop(schedule, parts);
}
