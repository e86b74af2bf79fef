import { describe, expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { type JobRun } from '../jobs/job-run.js';
import { LeaseLostError } from '../base/errors/run.errors.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { spanInterceptor } from './span-interceptor.js';

describe('The span of a run', () => {
  const replicas = useReplicas();

  /** What the span says of the first run of a job, and which events end that run. */
  async function recordOf(work: (run: JobRun, clock: TestReplica['clock']) => unknown) {
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const run = (given: JobRun): unknown => work(given, replica.clock);
    const interceptors = [spanInterceptor(tracerProvider.getTracer('test'))];
    const replica = replicas.start('a', [job({ run })], { interceptors });
    await replicas.clock.advance(1_500);
    const events = (['runSucceeded', 'runFailed', 'runCancelled'] as const).filter(
      (event) => replica.observer.of(event).length > 0,
    );
    const [span] = exporter.getFinishedSpans();
    return { events, outcome: span?.attributes['job.outcome'], code: span?.attributes['job.abort_code'], span };
  }

  /** Past the deadline, and no timer could fire the signal. */
  const outlive = (): void => void replicas.clock.block(9_000);

  it('is cancelled if assertLeader() threw and the run gave up', async () => {
    const { span, ...record } = await recordOf((run) => {
      outlive();
      run.assertLeader();
    });
    expect(record).toEqual({ events: ['runCancelled'], outcome: 'cancelled', code: 'LEASE_LOST' });
    expect(span?.events.map(({ name }) => name)).toEqual(['aborted']);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('is cancelled also if the job threw another error after assertLeader() threw', async () => {
    const { span, ...record } = await recordOf((run) => {
      outlive();
      try {
        run.assertLeader();
      } catch (cause: unknown) {
        throw new Error('the report was not written', { cause });
      }
    });
    expect(record).toEqual({ events: ['runCancelled'], outcome: 'cancelled', code: 'LEASE_LOST' });
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('is failed if the run never called assertLeader(), also with a LeaseLostError', async () => {
    const { span, ...record } = await recordOf((run) => {
      throw new LeaseLostError(run.job);
    });
    const { message } = new LeaseLostError('tick');
    expect(record).toEqual({ events: ['runFailed'], outcome: 'failed', code: undefined });
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message });
    expect(span?.attributes['error.type']).toBe('LeaseLostError');
    expect(span?.events.map(({ name }) => name)).toEqual(['exception']);
  });

  it('is failed if the last assertLeader() did not throw, although an earlier one did', async () => {
    const { span, ...record } = await recordOf((run, clock) => {
      clock.aheadMs = 60_000;
      expect(() => {
        run.assertLeader();
      }).toThrow(LeaseLostError);
      clock.aheadMs = 0;
      run.assertLeader();
      throw new Error('no such report');
    });
    expect(record).toEqual({ events: ['runFailed'], outcome: 'failed', code: undefined });
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  });
});
