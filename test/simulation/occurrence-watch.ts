import { type JobEvents } from '../../libs/singleton-job/src/base/events/events.js';
import { type AcquireRequest, type AcquireResult } from '../../libs/singleton-job/src/store/lock-store.js';
import { type CronJob, type Report } from './history.js';
import { type Setting } from './plan.js';

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** Which occurrences of the cron job were reported as not started. */
export class OccurrenceWatch {
  readonly #reports: Report[] = [];
  readonly #lossesMs: number[] = [];
  readonly #job: Open<CronJob>;
  #stateCreatedAt: number | undefined;

  constructor(everyMs: number) {
    this.#job = { everyMs, firstGrant: undefined, reports: this.#reports, lossesMs: this.#lossesMs };
  }

  get job(): CronJob {
    return this.#job;
  }

  /** The store has answered an acquire request. The job begins with its first grant, also if no replica learns of it. */
  answered({ name }: AcquireRequest, result: AcquireResult, atMs: number): void {
    if (name !== 'cron' || !result.granted) return;
    const { stateCreatedAt } = result;
    this.#job.firstGrant ??= { after: stateCreatedAt, upTo: stateCreatedAt, atMs };
    if (stateCreatedAt !== this.#stateCreatedAt) this.#lossesMs.push(atMs);
    this.#stateCreatedAt = stateCreatedAt;
  }

  /** A process has crashed after it sent a renewal. */
  crashedAtRenewal(atMs: number): void {
    this.#lossesMs.push(atMs);
  }

  heard(event: keyof JobEvents, payload: JobEvents[keyof JobEvents], atMs: number): void {
    const report = this.#reportOf(event, payload);
    if (report !== undefined) this.#reports.push({ ...report, atMs });
  }

  #reportOf(event: keyof JobEvents, payload: JobEvents[keyof JobEvents]): Omit<Report, 'atMs'> | undefined {
    if ((payload as { readonly job?: string }).job !== 'cron') return undefined;
    if (event === 'occurrencesMissed') {
      const { from, to } = payload as JobEvents['occurrencesMissed'];
      return { after: from.getTime(), upTo: to.getTime() };
    }
    if (event === 'tickDropped') {
      const { scheduledAt, count } = payload as JobEvents['tickDropped'];
      const upTo = scheduledAt.getTime();
      return { after: upTo - count * this.#job.everyMs, upTo };
    }
    if (event === 'runCancelled') {
      // perhaps before the method was called
      const upTo = (payload as JobEvents['runCancelled']).scheduledAt.getTime();
      return { after: upTo - 1, upTo };
    }
    return undefined;
  }
}

/** Whether `cron` has one schedule in all versions. */
export function keepsCron({ version, next }: Setting): boolean {
  return [version, next].every(
    ({ kinds, cronSeconds }) => kinds.cron === 'cron' && cronSeconds === version.cronSeconds,
  );
}
