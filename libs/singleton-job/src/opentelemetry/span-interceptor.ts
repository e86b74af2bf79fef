import { type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { describeError } from '../base/errors/message-of.js';
import { type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { onAbort } from '../base/time/sleep.js';
import { JOB_NAME } from './open-telemetry.options.js';

/** An interceptor that makes a span for each run. Spans of the job's own calls become its children. */
export function spanInterceptor(tracer: Tracer): RunInterceptor {
  return {
    intercept: (run, next) => {
      const attributes = {
        [JOB_NAME]: run.job,
        'job.kind': run.kind,
        'job.cause': run.cause,
        'job.scheduled_at': run.scheduledAt.toISOString(),
        'job.fencing_token': run.fencingToken,
      };
      // a triggered run belongs to the span of its caller; a timer must not, although some old request may have set it
      const options = { root: run.cause !== 'trigger', attributes };
      return tracer.startActiveSpan(`run ${run.job}`, options, (span) => runInSpan(span, run, next));
    },
  };
}

async function runInSpan(span: Span, ...[run, next]: Parameters<RunInterceptor['intercept']>): Promise<unknown> {
  const abortedFor = (code: RunAbortCode | 'UNKNOWN'): void => {
    span.addEvent('aborted', { 'job.abort_code': code });
    span.setAttribute('job.abort_code', code);
  };
  // another interceptor may have taken so long that the signal has fired already
  const removeListener = onAbort(run.signal, () => {
    abortedFor(run.signal.reason instanceof RunAbortedError ? run.signal.reason.code : 'UNKNOWN');
  });
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
    removeListener();
    span.end();
  }
}

function recordFailure(span: Span, error: unknown): void {
  const message = describeError(error);
  span.setAttributes({ 'job.outcome': 'failed', 'error.type': error instanceof Error ? error.name : '_OTHER' });
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
