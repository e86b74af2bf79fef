import { describe, expect, it } from '@jest/globals';
import { WORKER_AS_BUILT, WorkerProcess, type WorkerVariables } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { SpanCollector } from '../support/span-collector.js';
import { useRedisServer } from '../support/use-redis.js';

const redis = useRedisServer();

let started = 0;

/** One worker of a project of its own. */
function start(
  variables: WorkerVariables = {},
  options?: ConstructorParameters<typeof WorkerProcess>[2],
): WorkerProcess {
  const own = {
    SINGLETON_JOB_CONNECTION: redis().url,
    SINGLETON_JOB_PROJECT_NAME: `worker-${++started}`,
    PRICE_TICK_SLOW_EVERY: '0',
  };
  return new WorkerProcess('a', { ...own, ...variables }, options);
}

const printed = ({ lines }: WorkerProcess): string => lines.map(({ text }) => text).join('\n');

describe('a worker that cannot start', () => {
  it.concurrent('names the mistakes in its variables without a stack, and exits with 1', async () => {
    const worker = start({ SINGLETON_JOB_CONNECTION: 'localhost', SINGLETON_JOB_LOCK_EXPIRY: '10 s' });
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    expect(printed(worker)).toContain('- connection (SINGLETON_JOB_CONNECTION) must be a redis://');
    expect(printed(worker)).toContain('- lockExpiry (SINGLETON_JOB_LOCK_EXPIRY) must be a duration');
    expect(printed(worker)).not.toMatch(/^\s+at /m);
    expect(worker.events).toEqual([]);
  });

  it.concurrent('because its port is taken says so without a stack, and exits with 1', async () => {
    const first = start();
    await using workers = Workers.of(first);
    await workers.until('it is ready', () => first.isReady);
    const second = start({ PORT: new URL(first.url).port });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(printed(second)).toContain('set PORT to another');
    expect(printed(second)).not.toMatch(/^\s+at /m);
  });
});

describe('a line that a job logs', () => {
  it.concurrent.each<['text' | 'json', RegExp, unknown]>([
    ['text', /\[Prices\]/, expect.stringMatching(/\[Prices\] \[price-tick \d{4}-\S+Z #\d+\] 10\d\.\d\d/)],
    ['json', /"Prices"/, expect.stringMatching(/"run":\{"job":"price-tick","scheduledAt":"\S+Z","fencingToken":\d+\}/)],
    ['json', /answers at/, expect.not.stringContaining('"run"')],
  ])('has its run, if it is in one, as %s: %s', async (format, about, line) => {
    const worker = start({ LOG_LEVEL: 'debug', LOG_FORMAT: format });
    await using workers = Workers.of(worker);
    const find = () => worker.lines.find(({ text }) => about.test(text))?.text;
    expect(await workers.until(`it logs ${String(about)}`, find)).toEqual(line);
  });
});

/** Spans leave soon, and no export times out in a test, nor the wait for it. */
const SOON: WorkerVariables = {
  OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
  OTEL_BSP_EXPORT_TIMEOUT: '600000',
  OTEL_BSP_SCHEDULE_DELAY: '100',
};

describe('a worker that stops', () => {
  it.concurrent.each(['SIGTERM', 'SIGINT'] as const)('ends by the %s, also while a collector hangs', async (signal) => {
    await using collector = await SpanCollector.start({ answersAfterMs: Infinity });
    const variables = { ...SOON, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const worker = start(variables, { program: WORKER_AS_BUILT, isProcessOne: false });
    await using workers = Workers.of(worker);
    await workers.until('an export hangs', () => collector.requests > 0);
    expect(await worker.stop(signal)).toEqual({ code: null, signal });
  });

  it.concurrent.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])(
    'has sent a span of each run to a collector that is slow, by %s',
    async (name) => {
      await using collector = await SpanCollector.start({ answersAfterMs: 500 });
      const path = name.includes('TRACES') ? '/v1/traces' : '';
      const worker = start({ ...SOON, [name]: `${collector.url}${path}`, LAST_SPANS_WITHIN: '5m' });
      await using workers = Workers.of(worker);
      await workers.until('spans have arrived', () => collector.runs.length > 5);
      expect(await worker.stop()).toEqual({ code: 0, signal: null });
      const runs = worker.events.filter(({ event }) => event === 'runStarted');
      const expected = runs.map(({ payload }) => `run ${String(payload?.job)} ${String(payload?.scheduledAt)}`);
      expect(collector.runs.toSorted()).toEqual(expected.toSorted());
      expect(collector.received).toContain('{"key":"service.instance.id","value":{"stringValue":"a"}}');
    },
  );

  it.concurrent('logs one line when there is no collector', async () => {
    const worker = start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      // the first try is the last: the next one would come later than this
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      // all of them go with the stop
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      LAST_SPANS_WITHIN: '5m',
    });
    await using workers = Workers.of(worker);
    await workers.until('a run has ended', () => worker.events.some(({ event }) => event === 'runSucceeded'));
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    const lines = worker.lines.map(({ text }) => text).filter((line) => /spans|^\s+at /.test(line));
    expect(lines).toEqual([expect.stringMatching(/WARN.*the last spans may be lost: /)]);
  });
});
