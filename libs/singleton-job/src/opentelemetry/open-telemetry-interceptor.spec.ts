import { describe, expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { type JobRun } from '../decorators/index.js';
import { LeaseLostError } from '../errors/index.js';
import { intercept } from '../runner/intercept.js';
import { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

describe('The span of a run', () => {
  const replicas = useReplicas();

  /** What the span says of the first run of a job, and which events end that run. */
  async function toldOf(work: (run: JobRun, clock: TestReplica['clock']) => unknown) {
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const run = (given: JobRun): unknown => work(given, replica.clock);
    const traced = intercept(job({ run }), [new OpenTelemetryInterceptor({ tracerProvider })]);
    const replica = replicas.start('a', [traced]);
    await replicas.clock.advance(1_500);
    const events = (['runSucceeded', 'runFailed', 'runCancelled'] as const).filter(
      (event) => replica.observer.of(event).length > 0,
    );
    const [span] = exporter.getFinishedSpans();
    return { events, outcome: span?.attributes['job.outcome'], code: span?.attributes['job.abort_code'], span };
  }

  /** Past the deadline, and no timer could fire the signal. */
  const outlive = (): void => void replicas.clock.block(9_000);

  it('says that a run which asked for its lease, and gave up, was cancelled', async () => {
    const { span, ...told } = await toldOf((run) => {
      outlive();
      run.assertLeader();
    });
    expect(told).toEqual({ events: ['runCancelled'], outcome: 'cancelled', code: 'LEASE_LOST' });
    expect(span?.events.map(({ name }) => name)).toEqual(['aborted']);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('says the same whatever the job made of the refusal', async () => {
    const { span, ...told } = await toldOf((run) => {
      outlive();
      try {
        run.assertLeader();
      } catch (cause: unknown) {
        throw new Error('the report was not written', { cause });
      }
    });
    expect(told).toEqual({ events: ['runCancelled'], outcome: 'cancelled', code: 'LEASE_LOST' });
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('says that a run which never asked has failed, also with the error of a lost lease', async () => {
    const { span, ...told } = await toldOf((run) => {
      throw new LeaseLostError(run.job);
    });
    const { message } = new LeaseLostError('tick');
    expect(told).toEqual({ events: ['runFailed'], outcome: 'failed', code: undefined });
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message });
    expect(span?.attributes['error.type']).toBe('LeaseLostError');
    expect(span?.events.map(({ name }) => name)).toEqual(['exception']);
  });

  it('says that a run has failed which was refused while the clocks disagreed, and no longer when it asked again', async () => {
    const { span, ...told } = await toldOf((run, clock) => {
      clock.aheadMs = 60_000;
      expect(() => {
        run.assertLeader();
      }).toThrow(LeaseLostError);
      clock.aheadMs = 0;
      run.assertLeader();
      throw new Error('no such report');
    });
    expect(told).toEqual({ events: ['runFailed'], outcome: 'failed', code: undefined });
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  });
});
