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
    const ended = (['runSucceeded', 'runFailed', 'runCancelled'] as const).filter(
      (event) => replica.observer.of(event).length > 0,
    );
    const [span] = exporter.getFinishedSpans();
    const { 'job.outcome': outcome, 'job.abort_code': code, 'error.type': type } = span?.attributes ?? {};
    return { ended, outcome, code, type, events: span?.events.map(({ name }) => name), status: span?.status };
  }

  /** Past the deadline, and no timer could fire the signal. */
  const outlive = (): void => void replicas.clock.block(9_000);

  it.each<[string, (run: JobRun) => unknown]>([
    [
      'gave up',
      (run) => {
        run.assertLeader();
      },
    ],
    [
      'threw another error after that',
      (run) => {
        expect(() => {
          run.assertLeader();
        }).toThrow(LeaseLostError);
        throw new Error('the report was not written');
      },
    ],
  ])('is cancelled if assertLeader() threw and the run %s', async (_what, work) => {
    const record = await recordOf((run) => (outlive(), work(run)));
    const cancelled = { ended: ['runCancelled'], outcome: 'cancelled', code: 'LEASE_LOST', type: undefined };
    expect(record).toEqual({ ...cancelled, events: ['aborted'], status: { code: SpanStatusCode.UNSET } });
  });

  const FAILED = { ended: ['runFailed'], outcome: 'failed', code: undefined, events: ['exception'] };

  it('is failed if the run never called assertLeader(), also with a LeaseLostError', async () => {
    const record = await recordOf((run) => {
      throw new LeaseLostError(run.job);
    });
    const { message } = new LeaseLostError('tick');
    expect(record).toEqual({ ...FAILED, type: 'LeaseLostError', status: { code: SpanStatusCode.ERROR, message } });
  });

  it('is failed if the last assertLeader() did not throw, although an earlier one did', async () => {
    const record = await recordOf((run, clock) => {
      clock.aheadMs = 60_000;
      expect(() => {
        run.assertLeader();
      }).toThrow(LeaseLostError);
      clock.aheadMs = 0;
      run.assertLeader();
      throw new Error('no such report');
    });
    expect(record).toMatchObject(FAILED);
  });
});
