import { Injectable, type MessageEvent, type OnApplicationShutdown } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { QueueEvents } from 'bullmq';
import {
  catchError,
  concatMap,
  defer,
  filter,
  finalize,
  interval,
  map,
  merge,
  type Observable,
  of,
  Subject,
} from 'rxjs';
import { takeUntil, takeWhile, throttleTime, timer } from 'rxjs';
import { hasEnded } from '../durable-jobs/job-states.js';
import { type JobInfo, JobStore, QUEUE } from '../durable-jobs/job-store.js';
import { WAIT } from '../redis.js';
import { settings } from '../settings.js';

const NOT_OFTENER_THAN_MS = 1_000;
/** Also without a change: it keeps proxies from closing the connection, and covers an event that was lost in an outage. */
const AT_LEAST_EVERY_MS = 15_000;

/** Streams the status of jobs. One connection to Redis serves all clients of this process. */
@Injectable()
export class ProgressFeed implements OnApplicationShutdown {
  readonly #changes = new Subject<string>();
  readonly #events = new QueueEvents(QUEUE, {
    connection: { url: settings.redisUrl, ...WAIT },
    prefix: settings.projectName,
  });
  readonly #open = metrics.getMeter('durable-jobs').createUpDownCounter('durable_jobs_progress_streams');

  constructor(private readonly store: JobStore) {
    const onEvent = ({ jobId }: { jobId: string }): void => {
      this.#changes.next(jobId);
    };
    for (const event of ['waiting', 'active', 'progress', 'delayed', 'completed', 'failed', 'removed'] as const) {
      this.#events.on(event, onEvent);
    }
    this.#events.on('error', () => undefined);
    this.#open.add(0);
  }

  /** The status now and after each change, until the job has ended. */
  of(id: string, toBody: (info: JobInfo) => object): Observable<MessageEvent> {
    const changes = this.#changes.pipe(filter((changed) => changed === id));
    const opened = defer(() => {
      this.#open.add(1);
      return merge(of(id), changes, interval(AT_LEAST_EVERY_MS));
    });
    return opened.pipe(
      throttleTime(NOT_OFTENER_THAN_MS, undefined, { leading: true, trailing: true }),
      concatMap(() => this.store.find(id)),
      takeWhile((info) => info !== null && !hasEnded(info.status), true),
      filter((info) => info !== null),
      map((info) => ({ type: 'status', data: toBody(info) })),
      takeUntil(timer(settings.http.streamLimit)),
      catchError(() => of({ type: 'unavailable', data: { message: 'Redis cannot be reached. Connect again.' } })),
      finalize(() => {
        this.#open.add(-1);
      }),
    );
  }

  /** Does not wait: BullMQ's `close()` never resolves while Redis is away. */
  onApplicationShutdown(): void {
    this.#events.close().catch(() => undefined);
  }
}
