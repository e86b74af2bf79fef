import { type Vacancy } from './history.js';
import { type ProcessClock } from './process-clock.js';
import { type Timeline } from './timeline.js';

/** A process that may lead a `@WhileLeader` job. */
interface Caller {
  readonly name: string;
  readonly clock: ProcessClock;
  leads(job: string): boolean;
}

export type CallEnd = 'returned' | 'threw' | 'aborted';

interface Calls {
  begun: number;
  throws: number;
  /** The earliest time of the next call, by the monotonic clock of the process. */
  nextMs: number;
}

/** The delay after a call that has returned. After a throw it doubles, up to the longest. */
export const RESTART_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
const THROWS_UNTIL_STEP_DOWN = 3;
/** From the time at which a call is due to the call. */
const PROMPT_MS = 50;
/** After a crash a leader records that a call begins, and waits for the answer no longer. */
const RECORD_MS = 250;
/** How much slower than true time a clock of this simulation may be. */
const DRIFT = 1.01;

/** Whether each leader of a `@WhileLeader` job calls the method when it becomes the leader, and again after a call that has ended. */
export class CallWatch {
  readonly #calls = new Map<string, Calls>();
  /** How many leaders of a job have crashed since a call last returned. */
  readonly #crashes = new Map<string, number>();

  constructor(
    private readonly timeline: Timeline,
    private readonly missed: (vacancy: Vacancy) => void,
  ) {}

  led(process: Caller, job: string): void {
    const crashes = this.#crashes.get(job) ?? 0;
    const calls = this.#of(process, job);
    if (crashes > 0) calls.nextMs = Math.max(calls.nextMs, process.clock.now() + delayAfter(crashes) + RECORD_MS);
    this.#expect(process, job);
  }

  /** The process of a leader has crashed: the next one calls the method later. */
  crashed(job: string): void {
    this.#crashes.set(job, (this.#crashes.get(job) ?? 0) + 1);
  }

  began(process: Caller, job: string): void {
    this.#of(process, job).begun += 1;
  }

  /** Returns whether the replica must step down now. */
  ended(process: Caller, job: string, how: CallEnd): boolean {
    const calls = this.#of(process, job);
    if (how === 'threw') calls.throws += 1;
    if (how === 'returned') calls.throws = 0;
    if (how === 'returned') this.#crashes.delete(job);
    calls.nextMs = process.clock.now() + delayAfter(calls.throws);
    const stepsDown = how === 'threw' && calls.throws % THROWS_UNTIL_STEP_DOWN === 0;
    if (!stepsDown) this.#expect(process, job);
    return stepsDown;
  }

  /** A replica that leads calls the method in time. One that failed before waits also in its next term. */
  #expect(process: Caller, job: string): void {
    const { clock, name } = process;
    const calls = this.#of(process, job);
    const { begun, nextMs } = calls;
    const waitMs = Math.max(nextMs - clock.now(), 0);
    this.timeline.after(waitMs * DRIFT + PROMPT_MS, () => {
      if (calls.begun > begun || !clock.isRunning || !process.leads(job)) return;
      // its clock stopped meanwhile
      if (clock.now() < nextMs) this.#expect(process, job);
      else this.missed({ rule: 'no-run', job, since: `${name} leads`, dueMs: this.timeline.nowMs });
    });
  }

  #of({ name }: Caller, job: string): Calls {
    const key = `${name} ${job}`;
    const calls = this.#calls.get(key) ?? { begun: 0, throws: 0, nextMs: -Infinity };
    this.#calls.set(key, calls);
    return calls;
  }
}

function delayAfter(failures: number): number {
  return Math.min(RESTART_DELAY_MS * 2 ** Math.max(failures - 1, 0), LONGEST_DELAY_MS);
}
