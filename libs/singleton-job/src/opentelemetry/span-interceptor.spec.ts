import { expect, it } from '@jest/globals';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { getEventListeners } from 'node:events';
import { LeaseLostError, type RunAbortCode } from '../base/errors/run.errors.js';
import { FakeRun } from '../testing/index.js';
import { spanInterceptor } from './span-interceptor.js';

/** What a run does or meets, one after the other. */
type Step = (run: FakeRun) => void;

const abort =
  (code: RunAbortCode): Step =>
  (run) => {
    run.abort(code);
  };
const loseLease: Step = (run) => {
  run.loseLease();
};
const assertLeader: Step = (run) => {
  run.assertLeader();
};
const assertInVain: Step = (run) => {
  expect(() => {
    run.assertLeader();
  }).toThrow(LeaseLostError);
};
const fail =
  (reason: unknown = new Error('no report')): Step =>
  () => {
    throw reason as Error;
  };
const lost = new LeaseLostError('fake-job');
const isStopped = { signal: AbortSignal.abort(new Error('the test is over')) };

it.each<[string, string, readonly Step[], FakeRun?]>([
  ['succeeded', 'succeeded', []],
  ['succeeded in spite of its signal', 'succeeded TIMEOUT, aborted', [abort('TIMEOUT')]],
  ['is cancelled if it fails after its signal', 'cancelled TIMEOUT, aborted', [abort('TIMEOUT'), fail()]],
  ['is cancelled if its signal had fired before', 'cancelled UNKNOWN, aborted', [fail()], new FakeRun(isStopped)],
  ['is cancelled if assertLeader() threw', 'cancelled LEASE_LOST, aborted', [loseLease, assertLeader]],
  ['and its signal are cancelled once', 'cancelled LEASE_LOST, aborted', [abort('LEASE_LOST'), assertLeader]],
  ['is cancelled if it failed after that', 'cancelled LEASE_LOST, aborted', [loseLease, assertInVain, fail()]],
  ['failed without that', `failed LeaseLostError, exception, error: ${lost.message}`, [fail(lost)]],
  ['failed if it threw no error', "failed _OTHER, exception, error: 'no report'", [fail('no report')]],
])('The span of a run %s', async (_what, told, steps, run = new FakeRun()) => {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const interceptor = spanInterceptor(tracerProvider.getTracer('test'));
  const work = async (): Promise<void> => {
    await Promise.resolve();
    for (const step of steps) step(run);
  };
  await Promise.allSettled([interceptor.intercept(run, work)]);
  const [span] = exporter.getFinishedSpans();
  const said = ['job.outcome', 'job.abort_code', 'error.type'].flatMap((name) => span?.attributes[name] ?? []);
  const events = span?.events.map(({ name }) => name) ?? [];
  const error = span?.status.message === undefined ? [] : [`error: ${span.status.message}`];
  expect([said.join(' '), ...events, ...error].join(', ')).toBe(told);
  expect(getEventListeners(run.signal, 'abort')).toEqual([]);
});
