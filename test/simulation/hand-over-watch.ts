import { type Vacancy } from './history.js';
import { type Timeline } from './timeline.js';

/** A process that may take a job over. */
interface Successor {
  readonly name: string;
  couldLeadSince(job: string, sinceMs: number): boolean;
}

interface HandOverParts {
  readonly timeline: Timeline;
  readonly living: () => Iterable<Successor>;
  /** The process that has the lock of a job in the store. */
  readonly holderOf: (job: string) => string | undefined;
  /** Whether no fault could have delayed a hand-over of this job that began then. */
  readonly isOrderly: (job: string, sinceMs: number) => boolean;
  /** How long a hand-over takes at most. */
  readonly boundMs: () => number;
  readonly missed: (vacancy: Vacancy) => void;
}

/** A replica that stepped down does not compete for so long by its clock, and a little longer. */
const STAND_BACK_MS = 2_050;
/** A process that has just started may not know of the others. */
const NEWCOMER_MS = 500;

/** Whether another replica takes a job over at once that its leader gives back. */
export class HandOverWatch {
  /** When the last hand-over of each job began. */
  readonly #begun = new Map<string, number>();
  /** When a process has last stepped down from a job. */
  readonly #stepDowns = new Map<string, number>();

  constructor(private readonly parts: HandOverParts) {}

  /** `process` has given a job back, or must do so now. */
  expect(job: string, process: string, since: string): void {
    const { timeline, living, holderOf, isOrderly, boundMs, missed } = this.parts;
    const { nowMs } = timeline;
    this.#begun.set(job, nowMs);
    timeline.after(boundMs(), () => {
      const holder = holderOf(job);
      const isTaken = holder !== undefined && holder !== process;
      // its lock ends with its session
      const isDead = holder === process && ![...living()].some(({ name }) => name === process);
      if (isTaken || isDead || this.#begun.get(job) !== nowMs || !isOrderly(job, nowMs)) return;
      const successor = [...living()].find(
        (other) =>
          other.name !== process && other.couldLeadSince(job, nowMs - NEWCOMER_MS) && !this.standsBack(other.name, job),
      );
      if (successor === undefined) return;
      missed({ rule: 'no-hand-over', job, since: `${since}, and ${successor.name} competes`, dueMs: timeline.nowMs });
    });
  }

  steppedDown(process: string, job: string): void {
    this.#stepDowns.set(`${process} ${job}`, this.parts.timeline.nowMs);
  }

  /** Whether a process stands back from a job, so that it does not compete. */
  standsBack(process: string, job: string): boolean {
    return this.#isRecent(this.#stepDowns.get(`${process} ${job}`));
  }

  /** Whether a job may have no leader, because the last one has given it back a moment ago. */
  isUnderWay(job: string): boolean {
    return this.#isRecent(this.#begun.get(job));
  }

  #isRecent(atMs = -Infinity): boolean {
    return this.parts.timeline.nowMs < atMs + STAND_BACK_MS;
  }
}
