import { type LeadershipLoss, type LeadershipReleaseReason } from '../events/index.js';
import { type Holder } from '../store/index.js';
import { sleep } from '../time/index.js';
import { backoffMs } from './backoff.js';
import { Candidacy, type Contest } from './candidacy.js';
import { type Replica } from './replica.js';
import { hold } from './tenure.js';
import { type Term } from './term.js';

/**
 * Spends a term: works until the term or `stop` ends, and settles once nothing of the job runs any more. Settling before
 * either ends, with or without an error, gives the term back.
 */
export type Lead = (term: Term, stop: AbortSignal) => Promise<void>;

/** Why an election stops contending for good. */
export type StopReason = Extract<LeadershipReleaseReason, 'shutdown' | 'unregistered'>;

/**
 * Elects one leader for one job. Its two states are two functions: the candidacy bids until it wins a term,
 * {@link #serve} has it spent and gives it back. While a run of an earlier term has not settled there is no bid.
 */
export class LeaderElection {
  readonly #stop = new AbortController();
  readonly #candidacy: Candidacy;
  /** From a bid to the end of its term. Aborted by a stop, by a pause, and when this replica steps down. */
  #spell = new AbortController();
  #settled = Promise.resolve();
  #reason: LeadershipReleaseReason = 'shutdown';
  #isPaused = false;
  #wakeFromPause: (() => void) | undefined;
  #term: Term | undefined;
  #standBackMs = 0;
  #failures = 0;

  constructor(
    private readonly replica: Replica,
    private readonly contest: Contest,
    private readonly lead: Lead,
  ) {
    this.#candidacy = new Candidacy(replica, contest);
  }

  /** The term that is being served; undefined while this replica does not lead, or is about to give its term back. */
  get term(): Term | undefined {
    return this.#spell.signal.aborted ? undefined : this.#held;
  }

  /** The holder value of whoever leads, as far as this replica knows; itself until its lock is given back. */
  get leader(): Holder | undefined {
    return this.#held?.facts.holder ?? this.rival;
  }

  /** The same, if it is another replica. */
  get rival(): Holder | undefined {
    return this.#candidacy.rival;
  }

  /**
   * Whether it bids, and has heard of nobody who leads. Who does not bid cannot know: before its initial delay is over, paused,
   * standing back, or waiting for a run of a lost term to settle.
   */
  get isLeaderless(): boolean {
    return this.#candidacy.isBidding && this.leader === undefined;
  }

  /** Whether this replica has the lock: also while it waits for a run to settle before it gives the lock back. */
  get hasLock(): boolean {
    return this.#held !== undefined;
  }

  /** A term that was lost counts no more, although a run of it may not have settled yet. */
  get #held(): Term | undefined {
    return this.#term?.isOver() === false ? this.#term : undefined;
  }

  /** Contends for the job until it is stopped. Resolves when the lock is given back and nothing runs. Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.replica;
    const { initialDelayMs, job } = this.contest;
    if (initialDelayMs > 0) await sleep(clock, initialDelayMs, this.#stop.signal);
    const leave = this.replica.enter(job, this.#candidacy);
    while (!this.#stop.signal.aborted) {
      if (this.#isPaused) {
        await this.#resumed();
        continue;
      }
      this.#spell = new AbortController();
      this.#settled = this.#contend(this.#spell.signal);
      await this.#settled;
      if (this.#standBackMs > 0) await sleep(clock, this.#standBackMs, this.#stop.signal);
      this.#standBackMs = 0;
    }
    leave();
  }

  /** No new term from now on. A term being served ends as soon as its runner has settled. */
  stop(reason: StopReason = 'shutdown'): void {
    this.#stop.abort();
    this.#endSpell(reason);
    this.#wakeFromPause?.();
  }

  /** Contends no more until {@link resume}. Resolves when the run in flight has settled and the lock is given back. */
  pause(): Promise<void> {
    this.#isPaused = true;
    this.#endSpell('paused');
    return this.#settled;
  }

  /** Contends again. */
  resume(): void {
    this.#isPaused = false;
    this.#wakeFromPause?.();
  }

  /**
   * Gives the term back, once the run in flight has settled, and lets others bid first. Resolves when that is done; false if
   * there is no term to give back.
   */
  async stepDown(): Promise<boolean> {
    const leads = this.term !== undefined;
    if (leads) this.#endSpell('stepped-down');
    // who follows goes on bidding, and may do so for ever
    if (this.#spell.signal.aborted) await this.#settled;
    return leads;
  }

  #endSpell(reason: LeadershipReleaseReason): void {
    if (this.#spell.signal.aborted) return;
    this.#reason = reason;
    this.#spell.abort();
  }

  #resumed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeFromPause = resolve;
    });
  }

  async #contend(quit: AbortSignal): Promise<void> {
    const term = await this.#candidacy.win(quit);
    if (term !== undefined) await this.#serve(term, quit);
  }

  /** Has the term spent, keeps it alive meanwhile, and gives it back. */
  async #serve(term: Term, quit: AbortSignal): Promise<void> {
    const { notify } = this.replica;
    const { job } = this.contest;
    const { fencingToken } = term;
    const giveBack = hold(this.replica, term);
    // a grant that took longer than its own lease, or came after the stop, is no leadership: only a lock to give back
    const leads = term.isTrusted() && !quit.aborted;
    let failure: unknown;
    if (leads) {
      const { waitMs } = term.facts;
      notify('leadershipGained', { job, fencingToken, ...(waitMs > 0 && { waitMs }) });
      term.signal.addEventListener('abort', () => {
        if (isLoss(term.end)) notify('leadershipLost', { job, fencingToken, reason: term.end });
        // what runs on now outlives the connections: its lock is left to expire
        if (term.end === 'abandoned')
          notify('leadershipReleased', { job, fencingToken, reason: 'shutdown', confirmed: false });
      });
      term.onConfirmed((confirmation) => {
        notify('leaseRenewed', { job, fencingToken, ...confirmation });
      });
      this.#term = term;
      failure = await this.#spend(term, quit);
      this.#term = undefined;
    }
    const confirmed = await giveBack();
    if (!leads) return;
    const reason = failure === undefined ? this.#reason : 'runner-failed';
    const isReleased = term.end === 'released';
    if (isReleased) notify('leadershipReleased', { job, fencingToken, reason, confirmed });
    // who was asked to step down does so also if its lease was lost before its run had settled
    if (isReleased || this.#spell.signal.aborted) this.#standBackMs = this.#standBackAfter(reason);
  }

  /** What the runner failed with; undefined when it ended as it should, with its term or its spell. */
  async #spend(term: Term, quit: AbortSignal): Promise<unknown> {
    const { job } = this.contest;
    try {
      await this.lead(term, quit);
      if (term.isOver() || quit.aborted) {
        this.#failures = 0;
        return undefined;
      }
      throw new Error(`the runner of job '${job}' ended before its term`);
    } catch (error: unknown) {
      this.#failures += 1;
      this.replica.notify('runnerFailed', { job, error });
      return error;
    }
  }

  /** How long the others may bid first: a failure may be of this replica's own making, and who steps down wants another to lead. */
  #standBackAfter(reason: LeadershipReleaseReason): number {
    const { settings, random } = this.replica;
    const twoHeartbeatsMs = 2 * settings.heartbeatIntervalMs;
    if (reason === 'stepped-down') return twoHeartbeatsMs;
    return reason === 'runner-failed' ? Math.max(twoHeartbeatsMs, backoffMs(this.#failures, settings, random)) : 0;
  }
}

function isLoss(end: Term['end']): end is LeadershipLoss {
  return end === 'expired' || end === 'preempted';
}
