import { StoreError } from '../../libs/singleton-job/src/base/errors/store.error.js';
import { type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { PAUSE_OF_ALL } from '../../libs/singleton-job/src/leadership/record.js';
import { type RequestKind } from '../../libs/singleton-job/src/store/memory.js';
import { type CasRequest, type SyncRequest, type SyncResult } from '../../libs/singleton-job/src/store/store.js';
import { NetworkStore } from '../../libs/singleton-job/src/testing/replicas/network-store.js';

/**
 * What happens to a request. `answered`: the store carries it out and answers. `answer-lost`: the store carries it out,
 * and the answer is lost. `request-lost`: it never reaches the store. A code: it fails with this error and is not
 * carried out.
 */
export type Outcome = 'answered' | 'answer-lost' | 'request-lost' | StoreError['code'];

interface Sent {
  readonly request: RequestKind;
  /** Of its records. */
  readonly names: readonly string[] | '*';
}

type Step<T> = (carryOut: () => Promise<T>) => Promise<T>;
export type WriteStep = Step<readonly (number | undefined)[]>;

/** An outcome for each write. Every other request is answered. */
export const onWrite =
  (outcome: Outcome) =>
  (request: RequestKind): Outcome =>
    request === 'compareAndSet' ? outcome : 'answered';

/** A connection on which an answer is missing is closed after that. */
const WATCHDOG_MS = 1_500;
const RECONNECT_MS = 250;

/** The network of a replica on which a spec decides what happens to each request. */
export class FaultyStore extends NetworkStore {
  /** Every request that was sent, in order. */
  readonly sent: Sent[] = [];
  /** The syncs without the record of the pause of all jobs, which each of them reads. */
  syncs: SyncRequest[] = [];
  writes: CasRequest[] = [];
  /** Decides what happens to each request. */
  outcome: (request: RequestKind, names: Sent['names']) => Outcome = () => 'answered';
  /** What happens to each request of a kind where {@link outcome} has no word for it. */
  script: { sync?: Step<SyncResult>; compareAndSet?: WriteStep; publish?: never } = {};
  /** How long each answer takes, once the request was carried out. */
  delayMs = 0;
  /** Messages to this replica are lost, and it does not notice. */
  losesMessages = false;
  /** Holds back every answer until it resolves. */
  #answersAfter: Promise<void> | undefined;
  #isPartitioned = false;
  #unanswered: ((error: StoreError) => void)[] = [];
  /** Of a connection its watchdog, else the next attempt. */
  #timer: Timer | undefined;

  override sync(request: SyncRequest): Promise<SyncResult> {
    this.syncs.push({ ...request, read: request.read.filter((name) => name !== PAUSE_OF_ALL) });
    return super.sync(request);
  }

  override compareAndSet(request: CasRequest): ReturnType<WriteStep> {
    this.writes.push(request);
    return super.compareAndSet(request);
  }

  override async close(): Promise<void> {
    this.isConnected = false;
    this.#timer?.cancel();
    await super.close();
  }

  /** From now on everything that is sent in either direction is lost. No connection succeeds until {@link heal}. */
  override partition(): void {
    this.#isPartitioned = true;
  }

  /** The network works again. If the connection was closed, the next one is ready a moment later. */
  override heal(): void {
    this.#isPartitioned = false;
    if (!this.isConnected) this.#scheduleConnection();
  }

  /** Closes the connection. Another one is ready a moment later. */
  reconnect(): void {
    if (!this.isConnected) return;
    super.partition();
    for (const reject of this.#unanswered.splice(0))
      reject(new StoreError('STORE_UNREACHABLE', 'the connection was closed'));
    this.#scheduleConnection();
  }

  /** Holds back every answer, once its request was carried out. The returned function lets them arrive. */
  holdAnswers(): () => void {
    let arrive: () => void = () => undefined;
    this.#answersAfter = new Promise((resolve) => (arrive = resolve));
    return arrive;
  }

  /** What happens to the next write only. */
  scriptWrite(step: WriteStep): void {
    this.script.compareAndSet = (carryOut) => {
      this.script = {};
      return step(carryOut);
    };
  }

  override deliver(names: Sent['names']): void {
    if (!this.losesMessages && !this.#isPartitioned) super.deliver(names);
  }

  protected override async meet<T>(request: RequestKind, names: Sent['names'], carryOut: () => Promise<T>): Promise<T> {
    this.sent.push({ request, names });
    const step = this.script[request] as Step<T> | undefined;
    if (step !== undefined) return step(carryOut);
    const outcome = this.#isPartitioned ? 'request-lost' : this.outcome(request, names);
    if (outcome === 'request-lost') return this.#loseAnswer();
    if (outcome === 'answer-lost') return carryOut().then(() => this.#loseAnswer());
    if (outcome !== 'answered') throw new StoreError(outcome, `made to fail with ${outcome}`);
    const answer = await carryOut();
    await this.#answersAfter;
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(this.delayMs, resolve));
    return answer;
  }

  #loseAnswer<T>(): Promise<T> {
    this.#timer ??= this.clock.setTimer(WATCHDOG_MS, () => {
      this.reconnect();
    });
    return new Promise<T>((_, reject) => this.#unanswered.push(reject));
  }

  #scheduleConnection(): void {
    this.#timer?.cancel();
    this.#timer = this.clock.setTimer(RECONNECT_MS, () => {
      if (this.#isPartitioned) return;
      this.#timer = undefined;
      super.heal();
    });
  }
}
