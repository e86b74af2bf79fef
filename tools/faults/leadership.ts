import { JOBS } from '../../test/faults/replica/order.js';
import { type Testimony, type WitnessedEvent } from './testimony.js';

const BEGINS: ReadonlySet<WitnessedEvent> = new Set(['gained', 'runBegan']);
const ENDS: ReadonlySet<WitnessedEvent> = new Set(['lost', 'released']);
const ENDS_ALL: ReadonlySet<WitnessedEvent> = new Set(['killed', 'exited', 'stopped', 'blocked']);

/**
 * Who leads which job, as far as replicas said and can act. One that stands still leads nothing; when it goes on, it has
 * to show that it leads, by a run or a new term.
 */
export class Leadership {
  readonly #leaders = new Map<string, Set<string>>(JOBS.map((job) => [job, new Set()]));

  hear({ event, replica, job = '' }: Testimony): void {
    if (BEGINS.has(event)) this.#leaders.get(job)?.add(replica);
    if (ENDS.has(event)) this.#leaders.get(job)?.delete(replica);
    if (ENDS_ALL.has(event)) for (const leaders of this.#leaders.values()) leaders.delete(replica);
  }

  of(job: string): string[] {
    return [...(this.#leaders.get(job) ?? [])];
  }
}

/** A time in which nobody led a job that had been led before. */
export interface Vacancy {
  readonly job: string;
  readonly fromMs: number;
  /** Infinity if it went on to the end of the record. */
  readonly toMs: number;
}

export function vacancies(record: readonly Testimony[]): Vacancy[] {
  const leadership = new Leadership();
  const vacantSince = new Map<string, number>();
  const led = new Set<string>();
  const found: Vacancy[] = [];
  for (const testimony of record) {
    leadership.hear(testimony);
    for (const job of JOBS) {
      const since = vacantSince.get(job);
      if (leadership.of(job).length > 0) {
        led.add(job);
        vacantSince.delete(job);
        if (since !== undefined) found.push({ job, fromMs: since, toMs: testimony.atMs });
      } else if (led.has(job) && since === undefined) {
        vacantSince.set(job, testimony.atMs);
      }
    }
  }
  return [...found, ...[...vacantSince].map(([job, fromMs]) => ({ job, fromMs, toMs: Infinity }))];
}
