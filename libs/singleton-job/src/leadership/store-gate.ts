import { LockStoreError } from '../errors/index.js';
import { type Notify } from '../events/index.js';
import { type Clock, sleep } from '../time/index.js';
import { AilingJobs } from './ailing-jobs.js';
import { attempt, untilAborted } from './attempt.js';
import { Outage } from './outage.js';
import { ProbeTimer } from './probe-timer.js';
import { type Asker, type Pass, type Question } from './question.js';
import { type Waiting, WaitingLine } from './waiting-line.js';

export interface StoreGateParts {
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
  readonly heartbeatIntervalMs: number;
  /** Runs a function that sends, so that what it sends leaves in one write. */
  readonly together: (send: () => void) => void;
  /** Asks the store something about the lock of a job that changes nothing. */
  readonly probe: (job: string) => Promise<unknown>;
  /** An outage that was told is over. */
  readonly onRecovery: () => void;
  /** Once it aborts the store is being closed, and its failures are no news. */
  readonly closing: AbortSignal;
}

type Asked = Pick<Question<unknown>, 'job' | 'deadlineMs'>;

interface Sent {
  readonly question: Asked;
  readonly pass: Pass;
  /** The one that was on when it was sent. */
  readonly outage: Outage | undefined;
}

const SLOWEST_PROBE_MS = 500;

/**
 * What one process knows of its store. While it answers everybody asks at will. After a failure one question at a time is
 * let through as a probe, a leader's first and another job's first: if that fails too it is an outage, which is told
 * once; the first answer lets everybody through again. So a thousand jobs put no more load on a store in trouble than
 * one, and all of them go on within about half a second of its recovery. While nobody asks, the gate asks by itself: an
 * outage ends when the store answers, and not when somebody next needs it.
 *
 * A job that fails while others are answered (a hash slot without a server, say) is ailing: its failures are its own,
 * and keep nobody else from asking.
 */
export class StoreGate {
  #outage: Outage | undefined;
  readonly #ailing: AilingJobs;
  readonly #line = new WaitingLine(() => {
    this.#restIfDone();
  });
  readonly #probeTimer: ProbeTimer;
  #isProbing = false;

  constructor(private readonly parts: StoreGateParts) {
    this.#ailing = new AilingJobs(parts.clock, this.#tell);
    this.#probeTimer = new ProbeTimer(parts.clock, () => {
      this.#probe();
    });
    parts.closing.addEventListener('abort', () => {
      this.#restIfDone();
    });
  }

  /**
   * Asks once and waits for the answer, at most `deadlineMs`. Rejects with a {@link LockStoreError} if it is unknown.
   * While the gate is open the question is sent before this returns.
   */
  async ask<T>(question: Question<T>): Promise<T | undefined> {
    const { job, asker, signal } = question;
    if (asker === 'leader' && this.#ailing.isTold(job)) await this.pause(job, signal);
    if (signal.aborted) return undefined;
    if (this.#outage === undefined) return this.#send(question, 'open');
    const answer = this.#line.join(question, (pass) => this.#send(question, pass));
    this.#scheduleProbe();
    return answer;
  }

  /** Waits a moment if the job is ailing. Bids wait here before they take one of the places that all bids share. */
  async pause(job: string, signal: AbortSignal): Promise<void> {
    if (this.#ailing.isTold(job)) await sleep(this.parts.clock, this.#probeDelayMs('bid'), signal);
  }

  /** Every trouble that was told and goes on, of one job or, under undefined, of all: for how long. */
  get outages(): readonly (readonly [job: string | undefined, forMs: number])[] {
    const outage = this.#outage;
    const ofAll = outage?.isTold === true ? [[undefined, outage.sinceMs] as const] : [];
    return [...ofAll, ...this.#ailing.told].map(([job, sinceMs]) => [job, this.parts.clock.now() - sinceMs]);
  }

  /** Nobody asks for it any more: what it met with is no trouble of anybody's, and has not ended well either. */
  forget(job: string): void {
    this.#ailing.leave(job);
    this.#outage?.forget(job);
  }

  /** The store says that it can be asked again: probes at once, if there is an outage to end. */
  probeNow(): boolean {
    if (this.#outage === undefined) return false;
    this.#probeTimer.cancel();
    if (!this.#isProbing) this.#probe();
    return true;
  }

  async #send<T>(question: Question<T>, pass: Pass): Promise<T> {
    const { clock } = this.parts;
    const outage = this.#outage;
    let isLate = false;
    const send = async (): Promise<T> => {
      const answer = await question.send();
      if (isLate) this.#heardLate();
      return answer;
    };
    try {
      const answer = await attempt(clock, question.deadlineMs, send);
      this.#answered(question.job, outage);
      return answer;
    } catch (error: unknown) {
      isLate = true;
      if (error instanceof LockStoreError) this.#failed({ question, pass, outage }, error);
      throw error;
    } finally {
      if (pass !== 'open') this.#isProbing = false;
      if (this.#outage !== undefined) this.#scheduleProbe();
    }
  }

  /** `outage` is the one that was on when the question was sent: an older answer says nothing about a newer outage. */
  #answered(job: string, outage: Outage | undefined): void {
    this.#ailing.answered(job);
    if (outage === undefined || outage !== this.#outage) return;

    this.#outage = undefined;
    this.#probeTimer.cancel();
    for (const other of outage.jobs) if (other !== job) this.#ailing.suspect(other);
    this.#letThrough(this.#line.all());
    if (!outage.isTold) return;
    this.#tell('storeRecovered', { outageMs: this.parts.clock.now() - outage.sinceMs });
    this.parts.onRecovery();
  }

  #failed({ question, pass, outage }: Sent, error: LockStoreError): void {
    // anything but silence is an answer of the store; what a person must mend concerns one job, which says so itself
    if (error.code !== 'STORE_UNREACHABLE') {
      this.#answered(question.job, outage);
      return;
    }
    // what the gate asks by itself nobody misses: whose name it was may have left meanwhile
    if (pass !== 'own-probe') this.#note(question, error);
    if (outage === undefined || outage !== this.#outage || outage.isTold) return;
    outage.isTold = true;
    this.#tell('storeUnreachable', { error });
  }

  #note({ job, deadlineMs }: Asked, error: LockStoreError): void {
    if (this.#outage !== undefined) this.#outage.failed(job);
    else if (this.#ailing.has(job)) this.#ailing.failed(job, error);
    else this.#outage = new Outage(this.parts.clock.now(), { job, deadlineMs });
  }

  /** A store that answers too late is there all the same, and each leader may use a late yes. Bids would add to its load. */
  #heardLate(): void {
    if (this.#outage !== undefined) this.#letThrough(this.#line.leaders());
  }

  #letThrough(meant: readonly Waiting[]): void {
    if (meant.length === 0) return;
    this.parts.together(() => {
      for (const waiting of meant) waiting.go('open');
    });
  }

  /** The store is being closed, and nobody waits for it to answer. */
  get #isDone(): boolean {
    return this.parts.closing.aborted && this.#line.isEmpty;
  }

  #restIfDone(): void {
    if (this.#isDone) this.#probeTimer.cancel();
  }

  #scheduleProbe(): void {
    if (this.#isProbing || this.#isDone) return;
    this.#probeTimer.set(this.#probeDelayMs(this.#line.hasLeader ? 'leader' : 'bid'));
  }

  /** For a leader 1/12 to 1/6 of the heartbeat, while it has a lease to save; for others a little more than the ceiling. */
  #probeDelayMs(asker: Asker): number {
    const { heartbeatIntervalMs, random } = this.parts;
    if (asker === 'leader') return Math.min(SLOWEST_PROBE_MS, heartbeatIntervalMs / 6) * (0.5 + random() / 2);
    return Math.min(SLOWEST_PROBE_MS, heartbeatIntervalMs) * (1 + random() / 5);
  }

  #probe(): void {
    const outage = this.#outage;
    if (outage === undefined || this.#isDone) return;
    // whoever fails waits again at the end of the line, so that one job cannot keep the others from finding out
    const prober = this.#line.next(({ job }) => !outage.has(job) && !this.#ailing.has(job));
    this.#isProbing = true;
    if (prober === undefined) this.#probeForNobody(outage);
    else prober.go('probe');
  }

  #probeForNobody(outage: Outage): void {
    const { closing, probe } = this.parts;
    const { deadlineMs } = outage;
    const job = outage.nextName();
    const send = (): Promise<unknown> => untilAborted(closing, probe(job));
    // what it finds out is noted, and nobody waits for it
    this.#send({ job, asker: 'bid', deadlineMs, signal: closing, send }, 'own-probe').catch(() => undefined);
  }

  readonly #tell: Notify = (event, payload) => {
    if (!this.parts.closing.aborted) this.parts.notify(event, payload);
  };
}
