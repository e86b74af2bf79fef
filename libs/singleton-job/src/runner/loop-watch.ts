import { type Notify } from '../events/index.js';
import { type Clock, type Timer } from '../time/index.js';
import { type JobRunner } from './job-runner.js';

const MOST_OFTEN_MS = 50;
const LEAST_OFTEN_MS = 1_000;

/**
 * Notices when the event loop stood still for a heartbeat or longer: renewals stand still with it, and three heartbeats
 * are a lease. A stopped process or a suspended machine looks the same from inside.
 */
export class LoopWatch {
  #timer: Timer | undefined;

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly notify: Notify;
      readonly heartbeatIntervalMs: number;
      readonly runners: () => Iterable<JobRunner>;
    },
  ) {}

  /** Watches from now on; does nothing if it does already. */
  start(): void {
    if (this.#timer === undefined) this.#watch();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #watch(): void {
    const { clock, notify, heartbeatIntervalMs, runners } = this.parts;
    const everyMs = Math.min(Math.max(heartbeatIntervalMs / 4, MOST_OFTEN_MS), LEAST_OFTEN_MS);
    const setAtMs = clock.now();
    this.#timer = clock.setTimer(everyMs, () => {
      const blockedMs = clock.now() - setAtMs - everyMs;
      if (blockedMs >= heartbeatIntervalMs) {
        const jobs = [...runners()].filter((runner) => runner.ranSince(setAtMs)).map(({ job }) => job.name);
        notify('loopBlocked', { blockedMs, jobs: Object.freeze(jobs) });
      }
      this.#watch();
    });
  }
}
