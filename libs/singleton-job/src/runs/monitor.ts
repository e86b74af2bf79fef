import { type Notify } from '../base/events/events.js';
import { type Clock, type Timer } from '../base/time/clock.js';
import { type TermHandle } from '../leadership/term.js';
import { type JobRunner } from './job-runner.js';

const LOOK_EVERY_MS = 250;
/** A block of the event loop is reported if it is at least this long. */
const WARN_AFTER_MS = 1_000;

function cpuOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Looks four times a second, while this replica leads: was the event loop blocked for a second or longer, and is a run
 * slow? During a block only the heartbeat thread sends heartbeats. A stopped process or a suspended host looks alike,
 * but uses no CPU. One timer for all runs: one for each would cost more than most runs.
 */
export class Monitor {
  /** Undefined: it does not look. */
  #timer: Timer | undefined;
  #setAtMs = Infinity;
  #cpuAtMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly notify: Notify,
    private readonly runners: () => readonly JobRunner[],
    /** How much CPU time this process has used. */
    private readonly cpuMs = cpuOfProcess,
  ) {}

  /** A term begins. Looks until nothing of any term runs. */
  readonly watch = (term: Pick<TermHandle, 'whenOver'>): void => {
    if (this.#timer === undefined) this.#arm();
    // after a block the term may end before the timer fires, and its end must not be reported without the cause
    term.whenOver(this.#look);
  };

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#setAtMs = Infinity;
  }

  #arm(): void {
    this.#reset();
    this.#timer = this.clock.setTimer(LOOK_EVERY_MS, () => {
      const leading = this.runners().filter(({ isIdle }) => !isIdle);
      if (leading.length === 0) this.stop();
      else {
        this.#look();
        leading.forEach(({ runs }) => runs.inFlight?.checkProgress());
        this.#arm();
      }
    });
  }

  #reset(): void {
    this.#setAtMs = this.clock.now();
    this.#cpuAtMs = this.cpuMs();
  }

  readonly #look = (): void => {
    const blockedMs = this.clock.now() - this.#setAtMs - LOOK_EVERY_MS;
    if (blockedMs < WARN_AFTER_MS) return;
    const jobs = this.runners().filter(({ runs }) => runs.ranSince(this.#setAtMs));
    const cpuMs = this.cpuMs() - this.#cpuAtMs;
    this.#reset();
    this.notify('eventLoopBlocked', { blockedMs, cpuMs, jobs: Object.freeze(jobs.map(({ job }) => job.name)) });
  };
}
