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
  #terms = 0;

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly notify: Notify;
      readonly runners: () => readonly JobRunner[];
    },
  ) {}

  /** Looks during a term, until the returned function is called. */
  addTerm(): () => void {
    this.#terms += 1;
    if (this.#terms === 1) this.#watch();
    return () => {
      this.#terms -= 1;
      if (this.#terms === 0) this.stop();
    };
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #watch(): void {
    const { clock, notify, runners } = this.parts;
    const setAtMs = clock.now();
    this.#timer = clock.setTimer(LOOK_EVERY_MS, () => {
      const blockedMs = clock.now() - setAtMs - LOOK_EVERY_MS;
      if (blockedMs >= WARN_AFTER_MS) {
        const jobs = runners().filter(({ runs }) => runs.ranSince(setAtMs));
        notify('eventLoopBlocked', { blockedMs, jobs: Object.freeze(jobs.map(({ job }) => job.name)) });
      }
      for (const { runs } of runners()) runs.reportIfSlow();
      this.#watch();
    });
  }
}
