import { asLockStoreError, LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Chance } from './chance.js';
import { Pipe } from './pipe.js';
import { type ProcessClock } from './process-clock.js';
import { type Client, type SimulatedServer } from './simulated-server.js';
import { TRAVEL_MS, type NetworkConditions } from './network-conditions.js';
import { type Timeline } from './timeline.js';

export interface ConnectionParts {
  readonly timeline: Timeline;
  readonly clock: ProcessClock;
  readonly server: SimulatedServer;
  readonly chance: Chance;
  readonly conditions: () => NetworkConditions;
  /** A proxy keeps it when the server restarts. */
  readonly isProxied: boolean;
  /** It has ended, and the process knows. `isSilent`: because nothing arrived on it. */
  readonly onEnd: (isSilent: boolean) => void;
}

/** The silence after which a connection with a waiting request is closed, as in the Redis store. */
const SILENCE_MS = 1_500;
const LOOK_MS = 150;

/** One connection of a process to the server. As with TCP, data arrives once and in order while the connection lives. */
export class Connection implements Client {
  readonly #parts: ConnectionParts;
  readonly #start: number;
  readonly #there: Pipe;
  readonly #back: Pipe;
  readonly #unanswered = new Set<(error: LockStoreError) => void>();
  #isOpen = true;
  #lookTimer: Timer | undefined;
  #hasArrived = false;
  #lookedMs = 0;
  #silentMs = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { timeline, server } = parts;
    this.#start = server.start;
    const travelMs = (): number => this.#travelMs();
    const way = (blocked: NetworkConditions['way']) => (): boolean => {
      const now = parts.conditions().way;
      return now !== 'silent' && now !== blocked;
    };
    this.#there = new Pipe({ timeline, travelMs, isOpen: way('mute'), arrivedLate: server.arrivedLate });
    this.#back = new Pipe({ timeline, travelMs, isOpen: way('deaf') });
    server.connect(this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request. `carriedOut` is called after the server has carried it out, `read` before the process gets the answer. */
  request<T>(carryOut: () => T, { carriedOut, read }: RequestSteps<T> = {}): Promise<T> {
    const { clock, server } = this.#parts;
    return new Promise((resolve, reject) => {
      this.#watch();
      this.#unanswered.add(reject);
      this.#there.send(() => {
        server.arrive(this.#start, () => {
          const answer = answerOf(carryOut);
          carriedOut?.();
          this.#back.send(() => {
            clock.deliver(() => {
              if (!this.#isOpen) return;
              this.#hasArrived = true;
              this.#unanswered.delete(reject);
              if ('error' in answer) {
                reject(answer.error);
                return;
              }
              read?.(answer.value);
              resolve(answer.value);
            });
          });
        });
      });
    });
  }

  /** The server sends something by itself. */
  push(arrive: () => void): void {
    this.#back.send(() => {
      this.#parts.clock.deliver(() => {
        if (!this.#isOpen) return;
        this.#hasArrived = true;
        arrive();
      });
    });
  }

  /** The conditions have changed. */
  flush(): void {
    this.#there.flush();
    this.#back.flush();
  }

  /** The network ends the connection: the process notices it when it runs. */
  reset(): void {
    this.#loseWhatIsUnderWay();
    this.#parts.clock.deliver(() => {
      this.#end({ isSilent: false, message: 'the connection was reset' });
    });
  }

  serverGone(isNoticed: boolean): void {
    if (this.#parts.isProxied) return;
    this.#there.delay(Infinity);
    this.#back.delay(Infinity);
    if (isNoticed) this.reset();
  }

  /** The process ends it. What was sent still arrives. */
  close(): void {
    const unanswered = [...this.#unanswered];
    this.abandon();
    for (const reject of unanswered) reject(new LockStoreError('STORE_UNREACHABLE', 'the connection is closed'));
  }

  /** The process is gone. What it has sent still arrives. */
  abandon(): void {
    this.#isOpen = false;
    this.#lookTimer?.cancel();
    this.#parts.server.disconnect(this);
    this.#unanswered.clear();
  }

  #end({ isSilent, message }: { readonly isSilent: boolean; readonly message: string }): void {
    if (!this.#isOpen) return;
    const unanswered = [...this.#unanswered];
    this.abandon();
    for (const reject of unanswered) reject(new LockStoreError('STORE_UNREACHABLE', message));
    this.#parts.onEnd(isSilent);
  }

  /** Some requests are lost, some are in a buffer of the server already, and some arrive later, through a proxy. */
  #loseWhatIsUnderWay(): void {
    const { chance } = this.#parts;
    this.#back.delay(Infinity);
    const fate = chance.pick(['lost', 'lost', 'buffered', 'late', 'late']);
    if (fate === 'lost') this.#there.delay(Infinity);
    if (fate === 'late') this.#there.delay(chance.between(0, 1) * chance.pick([50, 1_000, 5_000, 30_000]));
  }

  #travelMs(): number {
    const { chance, conditions } = this.#parts;
    const { slow, slowMs } = conditions();
    return chance.between(0.1, chance.happens(slow) ? slowMs : TRAVEL_MS);
  }

  #watch(): void {
    if (this.#unanswered.size === 0) this.#startAnew();
    this.#lookLater();
  }

  #startAnew(): void {
    this.#hasArrived = false;
    this.#lookedMs = this.#parts.clock.now();
    this.#silentMs = 0;
  }

  #lookLater(): void {
    this.#lookTimer ??= this.#parts.clock.setTimer(LOOK_MS, () => {
      this.#lookTimer = undefined;
      this.#look();
    });
  }

  /** Time in which the process was halted does not count. Before the end it reads once more. */
  #look(): void {
    if (this.#unanswered.size === 0 || !this.#isOpen) return;
    const { clock, timeline } = this.#parts;
    const elapsedMs = clock.now() - this.#lookedMs;
    if (this.#hasArrived) this.#startAnew();
    else this.#silentMs += Math.min(elapsedMs, 2 * LOOK_MS);
    this.#lookedMs = clock.now();
    if (this.#silentMs >= SILENCE_MS)
      timeline.after(0, () => {
        clock.deliver(() => {
          if (this.#unanswered.size === 0 || this.#hasArrived) return;
          if (this.#parts.chance.happens(0.3)) this.#loseWhatIsUnderWay();
          this.#end({ isSilent: true, message: 'no answer within 1.5 s' });
        });
      });
    this.#lookLater();
  }
}

export interface RequestSteps<T> {
  readonly carriedOut?: () => void;
  readonly read?: (answer: T) => void;
}

function answerOf<T>(carryOut: () => T): { readonly value: T } | { readonly error: LockStoreError } {
  try {
    return { value: carryOut() };
  } catch (error: unknown) {
    return { error: asLockStoreError(error) };
  }
}
