import { type Attributes, type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { messageOf } from '../base/errors/message-of.js';
import { type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { type InterceptedRun, type RunInterceptor } from '../base/events/run-interceptor.js';
import { JOB_NAME } from './open-telemetry.options.js';

/** An interceptor that makes a span for each run. Spans of the job's own calls become its children. */
export function spanInterceptor(tracer: Tracer): RunInterceptor {
  return {
    intercept: (run, next) => {
      // a triggered run belongs to the span of its caller; a timer must not, although some old request may have set it
      const options = { root: run.cause !== 'trigger', attributes: attributesOf(run) };
      return tracer.startActiveSpan(`run ${run.job}`, options, (span) => within(span, run, next));
    },
  };
}

async function within(span: Span, run: InterceptedRun, next: () => Promise<unknown>): Promise<unknown> {
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
