import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { catchError, defer, exhaustMap, finalize, map, type Observable, of, takeUntil, takeWhile, timer } from 'rxjs';
import { hasEnded, type JobInfo, JobStore } from '../durable-jobs/job-store.js';
import { type Settings, settings } from '../settings.js';
import { toBody } from './report-view.js';

const EVERY_MS = 1_000;

/**
 * Streams the status of reports once a second. Also without a change, which keeps proxies from closing the connection.
 */
@Injectable()
export class ProgressFeed {
  readonly #open = metrics.getMeter('durable-jobs').createUpDownCounter('durable_jobs_progress_streams');

  constructor(
    private readonly store: JobStore,
    @Inject(settings.KEY) private readonly env: Settings,
  ) {
    this.#open.add(0);
  }

  /** Ends with the report, or after `STREAM_LIMIT_MS`: then the client connects again. */
  of(id: string): Observable<MessageEvent> {
    const opened = defer(() => {
      this.#open.add(1);
      return timer(0, EVERY_MS);
    });
    return opened.pipe(
      exhaustMap(() => this.store.getStatus(id)),
      takeWhile((info): info is JobInfo => info !== null),
      takeWhile(({ status }) => !hasEnded(status), true),
      map((info) => ({ type: 'status', data: toBody(info) })),
      takeUntil(timer(this.env.STREAM_LIMIT_MS)),
      catchError(() => of({ type: 'unavailable', data: { message: 'Redis cannot be reached. Connect again.' } })),
      finalize(() => {
        this.#open.add(-1);
      }),
    );
  }
}
