import { JOBS, type JobName } from './plan.js';
import { type Vacancy } from './rules.js';
import { type Happening, type World } from './world.js';

/** A process that may lead. */
export interface Candidate {
  /** Whether it has competed for a job since then, is not halted, and reaches the store. */
  couldLeadSince(job: string, sinceMs: number): boolean;
  /** Whether it has the lock, and is not halted. */
  isLeading(job: string): boolean;
}

export interface LeaderWatchParts {
  readonly world: World;
  /** How long each job may have no leader after the last disturbance, which was at `calmFromMs`. */
  readonly boundMs: (job: JobName, calmFromMs: number) => number;
  readonly candidates: () => Iterable<Candidate>;
  /** Whether the store carries out every request, and the job is not paused. */
  readonly mayBeLed: (job: JobName) => boolean;
  readonly onVacancy: (vacancy: Vacancy) => void;
}

/** Checks that each job has a leader whenever nothing was disturbed for long enough. */
export class LeaderWatch {
  readonly #parts: LeaderWatchParts;
  readonly #checks = new Map<JobName, Happening>();
  #calmFromMs = 0;
  #checkedUntilMs = 0;

  constructor(parts: LeaderWatchParts) {
    this.#parts = parts;
    this.disturbed();
  }

  /** When all checks have been made, unless something is disturbed before. */
  get endsMs(): number {
    return this.#checkedUntilMs;
  }

  /** A fault begins or ends: each job has its bound from now on. */
  disturbed(): void {
    const { world, boundMs } = this.#parts;
    this.#calmFromMs = world.nowMs;
    this.#checkedUntilMs = world.nowMs;
    for (const job of JOBS) {
      this.#checks.get(job)?.callOff();
      const dueMs = world.nowMs + boundMs(job, world.nowMs);
      this.#checkedUntilMs = Math.max(this.#checkedUntilMs, dueMs);
      const check = (): void => {
        this.#check(job);
      };
      this.#checks.set(job, world.at(dueMs, check));
    }
  }

  #check(job: JobName): void {
    const { world, candidates, mayBeLed, onVacancy } = this.#parts;
    const all = [...candidates()];
    if (all.some((process) => process.isLeading(job)) || !mayBeLed(job)) return;
    if (!all.some((process) => process.couldLeadSince(job, this.#calmFromMs))) return;
    onVacancy({ job, since: `it has been calm since ${this.#calmFromMs.toFixed(1)}`, dueMs: world.nowMs });
  }
}
