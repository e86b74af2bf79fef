import { Inject, Injectable, Optional } from '@nestjs/common';
import { type Attributes, type Span, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { messageOf } from '../base/errors/message-of.js';
import { type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { type InterceptedRun, type RunInterceptor } from '../base/events/run-interceptor.js';
import { JOB_NAME, OPEN_TELEMETRY_OPTIONS, type OpenTelemetryOptions, SCOPE } from './open-telemetry.options.js';

/** Makes a span for each run. Spans of the job's own calls become its children. */
@Injectable()
export class OpenTelemetryInterceptor implements RunInterceptor {
  readonly #tracer: Tracer;

  constructor(@Optional() @Inject(OPEN_TELEMETRY_OPTIONS) options?: OpenTelemetryOptions | null) {
    this.#tracer = (options?.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
  }

  /** Runs the job within its span. */
  intercept(run: InterceptedRun, next: () => Promise<unknown>): Promise<unknown> {
    // a triggered run belongs to the span of its caller; a timer must not, although some old request may have set it
    const root = run.cause !== 'trigger';
    return this.#tracer.startActiveSpan(`run ${run.job}`, { root, attributes: attributesOf(run) }, async (span) => {
      const abortedFor = (code: RunAbortCode | 'UNKNOWN'): void => {
        span.addEvent('aborted', { 'job.abort_code': code });
        span.setAttribute('job.abort_code', code);
      };
      const abort = (): void => {
        abortedFor(run.signal.reason instanceof RunAbortedError ? run.signal.reason.code : 'UNKNOWN');
      };
      run.signal.addEventListener('abort', abort);
      // another interceptor may have taken so long that the signal has fired already
      if (run.signal.aborted) abort();
      try {
        const result = await next();
        span.setAttribute('job.outcome', 'succeeded');
        return result;
      } catch (error: unknown) {
        const { aborted } = run.signal;
        // the clocks show the deadline before the timer fires the signal
        if (run.wasRefused && !aborted) abortedFor('LEASE_LOST');
        if (run.wasRefused || aborted) span.setAttribute('job.outcome', 'cancelled');
        else recordFailure(span, error);
        throw error;
      } finally {
        run.signal.removeEventListener('abort', abort);
        span.end();
      }
    });
  }
}

function attributesOf({ job, kind, cause, scheduledAt, fencingToken }: InterceptedRun): Attributes {
  return {
    [JOB_NAME]: job,
    'job.kind': kind,
    'job.cause': cause,
    'job.scheduled_at': scheduledAt.toISOString(),
    'job.fencing_token': fencingToken,
  };
}

function recordFailure(span: Span, error: unknown): void {
  const message = messageOf(error);
  span.setAttributes({ 'job.outcome': 'failed', 'error.type': error instanceof Error ? error.name : '_OTHER' });
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
