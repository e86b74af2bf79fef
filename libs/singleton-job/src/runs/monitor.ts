import { type Notify } from '../base/events/events.js';
import { type JobRunner } from './job-runner.js';
import { type Clock, type Timer } from '../base/time/clock.js';

const LOOK_EVERY_MS = 250;
/** A block of the event loop is reported if it is at least this long. */
const WARN_AFTER_MS = 1_000;

/**
 * Looks four times a second, while this replica leads: was the event loop blocked for a second or longer, and is a run slow? No heartbeats are sent
 * during a block. A stopped process or a suspended host looks the same. One timer for all runs: one for each would cost more than most runs.
 */
export class Monitor {
  #timer: Timer | undefined;
  /** Infinity: it does not look. */
  #setAtMs = Infinity;
  #terms = 0;

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly notify: Notify;
      readonly runners: () => readonly JobRunner[];
    },
  ) {}

  /** Looks during a term, until the returned function is called. `signal` aborts when the term ends. */
  addTerm(signal: AbortSignal): () => void {
    this.#terms += 1;
    if (this.#terms === 1) this.#watch();
    // after a block the term may end before the timer fires, and its end must not be reported without the cause
    signal.addEventListener('abort', this.#look, { once: true });
    return () => {
      this.#terms -= 1;
      if (this.#terms === 0) this.stop();
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#setAtMs = Infinity;
  }

  #watch(): void {
    const { clock, runners } = this.parts;
    this.#setAtMs = clock.now();
    this.#timer = clock.setTimer(LOOK_EVERY_MS, () => {
      this.#look();
      for (const { runs } of runners()) runs.inFlight?.look();
      this.#watch();
    });
  }

  readonly #look = (): void => {
    const { clock, notify, runners } = this.parts;
    const blockedMs = clock.now() - this.#setAtMs - LOOK_EVERY_MS;
    if (blockedMs < WARN_AFTER_MS) return;
    const jobs = runners().filter(({ runs }) => runs.ranSince(this.#setAtMs));
    this.#setAtMs = clock.now();
    notify('eventLoopBlocked', { blockedMs, jobs: Object.freeze(jobs.map(({ job }) => job.name)) });
  };
}
