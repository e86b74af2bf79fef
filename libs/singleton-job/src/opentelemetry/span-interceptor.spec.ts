import { expect, it } from '@jest/globals';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { getEventListeners } from 'node:events';
import { LeaseLostError } from '../base/errors/run.errors.js';
import { FakeRun } from '../testing/index.js';
import { spanInterceptor } from './span-interceptor.js';

const fails = () => {
  throw new Error('no report');
};
const throwsText = () => {
  throw 'no report' as unknown as Error;
};
const isStopped = { signal: AbortSignal.abort(new Error('the test is over')) };

it.each<[string, string, (run: FakeRun) => unknown, FakeRun?]>([
  ['succeeded', 'succeeded', () => undefined],
  ['succeeded in spite of its signal', 'succeeded TIMEOUT, aborted', (run) => void run.abort('TIMEOUT')],
  ['is cancelled if it fails after its signal', 'cancelled TIMEOUT, aborted', (run) => (run.abort('TIMEOUT'), fails())],
  ['is cancelled if its signal had fired before', 'cancelled UNKNOWN, aborted', fails, new FakeRun(isStopped)],
  [
    'is cancelled if assertLeader() threw',
    'cancelled LEASE_LOST, aborted',
    (run) => (run.loseLease(), run.assertLeader()),
  ],
  [
    'is cancelled once if its signal has told the same',
    'cancelled LEASE_LOST, aborted',
    (run) => (run.abort('LEASE_LOST'), run.assertLeader()),
  ],
  [
    'is cancelled if it threw another error after assertLeader()',
    'cancelled LEASE_LOST, aborted',
    (run) => (run.loseLease(), expect(() => (run.assertLeader(), 0)).toThrow(LeaseLostError), fails()),
  ],
  [
    'failed if it never called assertLeader()',
    `failed LeaseLostError, exception, error: ${new LeaseLostError('fake-job').message}`,
    ({ job }) => Promise.reject(new LeaseLostError(job)),
  ],
  ['failed if it threw no error', "failed _OTHER, exception, error: 'no report'", throwsText],
])('The span of a run %s', async (_what, told, work, run = new FakeRun()) => {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const { intercept } = spanInterceptor(tracerProvider.getTracer('test'));
  await Promise.allSettled([intercept(run, async () => work(run))]);
  const [{ attributes, events, status } = fails()] = exporter.getFinishedSpans();
  const said = ['job.outcome', 'job.abort_code', 'error.type'].flatMap((name) => attributes[name] ?? []).join(' ');
  const failure = status.message === undefined ? [] : `error: ${status.message}`;
  expect([said, ...events.map(({ name }) => name), failure].flat().join(', ')).toBe(told);
  expect(getEventListeners(run.signal, 'abort')).toEqual([]);
});
