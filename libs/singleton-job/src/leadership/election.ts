import { type LeadershipReleaseReason } from '../base/events/reasons.js';
import { runnerFailed } from '../base/events/warnings.js';
import { type Holder } from '../store/lock-store.js';
import { backoffMs } from '../base/time/backoff.js';
import { onAbort } from '../base/time/on-abort.js';
import { sleep } from '../base/time/sleep.js';
import { type ElectionOptions, Follower } from './follower.js';
import { type Replica } from './replica.js';
import { type Term } from './term.js';

/**
 * Runs the job during a term, until the term ends or `stop` aborts, whose reason is a `LeadershipReleaseReason`. Settles once nothing of the job runs any more. If it settles before either
 * ends, with or without an error, the term is given back.
 */
type Lead = (term: Term, stop: AbortSignal) => Promise<void>;

/** Why an election stops competing for good. */
type StopReason = Extract<LeadershipReleaseReason, 'shutdown' | 'unregistered'>;

/** Why a replica lets another one lead. */
type StepDownReason = Extract<LeadershipReleaseReason, 'stepped-down' | 'failed-calls' | 'rebalance'>;

/** How long a replica waits after it stepped down or its runner failed, so that others acquire the lock first. */
const COOLDOWN_MS = 2_000;

/**
 * Elects one leader for one job. It has two states. As a follower it campaigns until it wins a term. As the leader it is in
 * {@link #serve}, which runs the job and then gives the term back. While a run of an earlier term has not ended, it does not compete.
 */
export class Election {
  #isStopped = false;
  /** What this replica knows of the other leaders. */
  readonly follower: Follower;
  /** From the start of a campaign to the end of its term. Aborted by a stop, by a pause, and when this replica steps down. */
  #round: AbortController | undefined;
  /** Ends the initial delay, or the wait after a term, at a stop. */
  #wait: AbortController | undefined;
  #reason: LeadershipReleaseReason = 'shutdown';
  #term: Term | undefined;
  #failures = 0;
  /** When the pause began that this replica learned while it had the lock. */
  #pauseAsLeader: number | undefined;

  constructor(
    private readonly replica: Replica,
    private readonly options: ElectionOptions,
    private readonly lead: Lead,
  ) {
    this.follower = new Follower(replica, options);
  }

  /** The current term. Undefined while this replica does not lead, or is about to give its term back. */
  get term(): Term | undefined {
    return this.#round?.signal.aborted === false ? this.#held : undefined;
  }

  /** The holder value of the leader, as far as this replica knows. Its own until it has given its lock back. */
  get leader(): Holder | undefined {
    return this.#held?.holder ?? this.follower.otherHolder;
  }

  /** When the job was paused on all replicas, by the clock of the store, as this replica knows. Undefined: it is not paused. */
  get pausedAt(): number | undefined {
    return this.follower.watermarks.pausedAt;
  }

  /** Whether this replica has the lock: also while it waits for a run to end before it gives the lock back. */
  get hasLock(): boolean {
    return this.#held !== undefined;
  }

  /** Whether the pause of now found this replica with the lock. It may have released it since. */
  get ledUntilPause(): boolean {
    return this.pausedAt !== undefined && this.pausedAt === this.#pauseAsLeader;
  }

  /** A lost term does not count, even if a run of it has not ended yet. */
  get #held(): Term | undefined {
    return this.#term?.isOver() === false ? this.#term : undefined;
  }

  /** Competes for the job until it is stopped. Resolves when the lock is given back and nothing runs. Never rejects. */
  async run(): Promise<void> {
    const { jobs, messages, sessions } = this.replica;
    const { initialDelayMs, name, lockExpiryMs } = this.options;
    if (initialDelayMs > 0) await this.#waitFor(initialDelayMs);
    if (this.#isStopped) return;
    const removeJob = sessions.addJob(lockExpiryMs);
    const removeWaiter = messages.addWaiter(name, this.follower);
    jobs.competing += 1;
    await this.#rounds();
    jobs.competing -= 1;
    removeWaiter();
    removeJob();
  }

  /** One round after the other, from the start of a campaign to the end of its term. */
  async #rounds(): Promise<void> {
    while (!this.#isStopped) {
      const round = new AbortController();
      this.#round = round;
      const cooldownMs = await this.#compete(round.signal);
      if (cooldownMs > 0) await this.#waitFor(cooldownMs);
    }
  }

  /** Resolves after `delayMs`, or at a stop. There is a controller only meanwhile: it takes half a kilobyte, and a replica may follow 1,000 jobs. */
  async #waitFor(delayMs: number): Promise<void> {
    if (this.#isStopped) return;
    this.#wait = new AbortController();
    await sleep(this.replica.context.clock, delayMs, this.#wait.signal);
    this.#wait = undefined;
  }

  /** No new term begins from now on. The current term ends as soon as its runner has returned. */
  stop(reason: StopReason = 'shutdown'): void {
    this.#isStopped = true;
    this.#wait?.abort();
    this.#endRound(reason);
  }

  /** The store has answered whether the job is paused on all replicas. A leader gives its term back. */
  learnPause(pausedAt: number | undefined): void {
    this.follower.watermarks.pausedAt = pausedAt;
    if (pausedAt === undefined) return;
    if (this.hasLock) this.#pauseAsLeader = pausedAt;
    this.#endRound('paused');
  }

  /** Gives the term back once the run in flight has ended. Then it waits, so that other replicas acquire the lock first. */
  stepDown(reason: StepDownReason = 'stepped-down'): void {
    if (this.term !== undefined) this.#endRound(reason);
  }

  #endRound(reason: LeadershipReleaseReason): void {
    if (this.#round?.signal.aborted !== false) return;
    this.#reason = reason;
    this.#round.abort(reason);
  }

  /** Resolves to how long it does not compete after that. */
  async #compete(quit: AbortSignal): Promise<number> {
    const term = await this.follower.campaign(quit);
    return term === undefined ? 0 : this.#serve(term, quit);
  }

  /** Runs the job during the term, keeps the term alive meanwhile, and gives it back. */
  async #serve(term: Term, quit: AbortSignal): Promise<number> {
    const { context, jobs, messages } = this.replica;
    const { notify } = context;
    const { name: job } = this.options;
    const { holder, fencingToken } = term;
    const news = { name: job, holder, token: fencingToken };
    const removeUser = term.session.addUser();
    const stopRenewing = term.keepAlive();
    jobs.leading += 1;
    messages.publishGrant(news);
    notify('leadershipGained', { job, fencingToken, ...term.takeover });
    // its session may have ended already: then the runner reports what it found and starts nothing
    onAbort(term.signal, () => {
      const { end } = term;
      if (end === 'expired' || end === 'preempted') notify('leadershipLost', { job, fencingToken, reason: end });
      // the run outlives the connections, so its lock expires by itself
      if (end === 'abandoned')
        notify('leadershipReleased', { job, fencingToken, reason: 'shutdown', confirmed: false, runInFlight: true });
    });
    term.onRenewed(({ pausedAt, ...renewal }) => {
      notify('leaseRenewed', { job, fencingToken, ...renewal });
      this.learnPause(pausedAt);
    });
    this.#term = term;
    // a repeated request was granted: the job may have been paused since it was first sent
    this.learnPause(this.pausedAt);
    const failure = await this.#spend(term, quit);
    this.#term = undefined;

    jobs.leading -= 1;
    stopRenewing();
    const confirmed = await term.release();
    removeUser();
    const reason = failure === undefined ? this.#reason : 'runner-failed';
    const isReleased = term.end === 'released';
    if (isReleased) notify('leadershipReleased', { job, fencingToken, reason, confirmed, runInFlight: false });
    // also during a shutdown, which may still wait for other jobs
    if (isReleased && confirmed) messages.repeatRelease(news);
    // a replica that steps down also waits if it lost its lease before its run had ended
    return isReleased || quit.aborted ? this.#cooldownAfter(reason) : 0;
  }

  /** The error of the runner. Undefined if it ended with its term or its round, as it should. */
  async #spend(term: Term, quit: AbortSignal): Promise<unknown> {
    const { name: job } = this.options;
    try {
      await this.lead(term, quit);
      if (term.isOver() || quit.aborted) {
        this.#failures = 0;
        return undefined;
      }
      throw new Error(`the runner of job '${job}' ended before its term`);
    } catch (error: unknown) {
      this.#failures += 1;
      this.replica.context.notify('warning', runnerFailed(job, error));
      return error;
    }
  }

  /** How long this replica waits so that others acquire first. A runner may fail on this replica only. */
  #cooldownAfter(reason: LeadershipReleaseReason): number {
    const { settings, random } = this.replica.context;
    if (['stepped-down', 'failed-calls', 'rebalance'].includes(reason)) return COOLDOWN_MS;
    return reason === 'runner-failed' ? Math.max(COOLDOWN_MS, backoffMs(this.#failures, settings, random)) : 0;
  }
}
