import { type ScheduledEvent, type Timeline } from './timeline.js';

/** What must be true when nothing was disturbed for long enough. */
export interface CalmCheck {
  /** How long nothing may be disturbed before the check. The last disturbance was at `calmFromMs`. */
  boundMs(calmFromMs: number): number;
  check(calmFromMs: number): void;
}

/** Makes each check whenever nothing was disturbed for its bound: between two faults, and after the last one. */
export class Calm {
  #pending: readonly ScheduledEvent[] = [];
  #endsMs = 0;
  #sinceMs = 0;

  constructor(
    private readonly timeline: Timeline,
    private readonly checks: readonly CalmCheck[],
  ) {
    this.disturbed();
  }

  /** When something was last disturbed. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** When all checks will have been made, unless something is disturbed before. */
  get endsMs(): number {
    return this.#endsMs;
  }

  /** A fault begins or ends: each check has its bound from now on. */
  disturbed(): void {
    const { nowMs } = this.timeline;
    this.#sinceMs = nowMs;
    for (const happening of this.#pending) happening.callOff();
    this.#pending = this.checks.map((one) => {
      const atMs = nowMs + one.boundMs(nowMs);
      this.#endsMs = Math.max(this.#endsMs, atMs);
      return this.timeline.at(atMs, () => {
        one.check(nowMs);
      });
    });
  }
}
