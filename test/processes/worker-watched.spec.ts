import { describe, expect, it } from '@jest/globals';
import { useRedis } from '../../tools/replicas/redis/use-redis.js';
import { SpanCollector } from '../support/span-collector.js';
import { Workers } from '../../tools/replicas/workers.js';
import { WorkerProcess, type WorkerVariables } from '../../tools/replicas/worker-process.js';

const redis = useRedis();

let started = 0;

/** One worker of a project of its own. */
function start(variables: WorkerVariables, options?: { isProcessOne: boolean }): WorkerProcess {
  const own = {
    SINGLETON_JOB_CONNECTION: redis().url,
    SINGLETON_JOB_PROJECT_NAME: `watched-${process.pid}-${++started}`,
    PRICE_TICK_SLOW_EVERY: '0',
  };
  return new WorkerProcess('a', { ...own, ...variables }, options);
}

/** The log of a worker that runs its jobs. */
async function logOf(format: 'text' | 'json', job: RegExp): Promise<string> {
  const worker = start({ LOG_LEVEL: 'debug', LOG_FORMAT: format });
  await using workers = Workers.of(worker);
  const find = (): string | undefined => worker.lines.map(({ text }) => text).find((text) => job.test(text));
  await workers.until(`it logs ${String(job)}`, () => find() !== undefined);
  return find() ?? '';
}

describe('a line that a job logs', () => {
  it('has the run, as text', async () => {
    expect(await logOf('text', /\[Prices\]/)).toMatch(/\[Prices\] \[price-tick \d{4}-\S+Z #\d+\] 10\d\.\d\d/);
  });

  it('has the run, as JSON', async () => {
    expect(JSON.parse(await logOf('json', /"Prices"/))).toMatchObject({
      context: 'Prices',
      run: { job: 'price-tick', scheduledAt: expect.any(String), fencingToken: expect.any(Number) },
    });
  });

  it('has no run outside of a run', async () => {
    expect(JSON.parse(await logOf('json', /answers at/))).not.toHaveProperty('run');
  });
});

/** So long that no export times out in a test, nor the wait for it. */
const PATIENT: WorkerVariables = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_EXPORT_TIMEOUT: '600000' };

const NO_COLLECTOR = 'http://127.0.0.1:1';

describe('the spans of a worker', () => {
  it('arrive at the collector, one for each run, also the last ones', async () => {
    await using collector = await SpanCollector.start();
    const worker = start({
      ...PATIENT,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      LAST_SPANS_WITHIN: '5m',
    });
    await using workers = Workers.of(worker);
    await workers.until('spans have arrived', () => collector.spans.length > 5);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    const runs = worker.events.filter(({ event }) => event === 'runStarted');
    const expected = runs.map(({ payload }) => `run ${String(payload?.job)} ${String(payload?.scheduledAt)}`);
    const sent = collector.spans.map(({ name, attributes }) => `${name} ${String(attributes.get('job.scheduled_at'))}`);
    expect(sent.toSorted()).toEqual(expected.toSorted());
    expect(new Set(collector.spans.map(({ service }) => service.get('service.instance.id')))).toEqual(new Set(['a']));
    expect(Number(collector.spans[0]?.attributes.get('job.fencing_token'))).toBeGreaterThan(0);
  });

  it('arrive at a collector for spans only, within its time-out', async () => {
    // more than a stop waits
    await using collector = await SpanCollector.start({ answersAfterMs: 3_000 });
    const worker = start({
      ...PATIENT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    await using workers = Workers.of(worker);
    await workers.until('spans have arrived', () => collector.spans.length > 0, { withinMs: 60_000 });
  });

  it('do not delay the end of a worker when the collector never answers', async () => {
    await using collector = await SpanCollector.start({ answersAfterMs: Infinity });
    const variables = { ...PATIENT, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
    const worker = start(variables, { isProcessOne: false });
    await using workers = Workers.of(worker);
    await workers.until('an export hangs', () => collector.requests > 0);
    const exited = worker.stop();
    // it takes seconds; an export takes ten minutes here
    await workers.until('it ends', () => worker.hasExited, { withinMs: 60_000 });
    expect(await exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('cause one line in the log when there is no collector', async () => {
    const worker = start({
      OTEL_EXPORTER_OTLP_ENDPOINT: NO_COLLECTOR,
      // the first try is the last: the next one would come later than this
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      // all of them go with the stop
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      LAST_SPANS_WITHIN: '5m',
    });
    await using workers = Workers.of(worker);
    const ended = (): boolean => worker.events.some(({ event }) => event === 'runSucceeded');
    await workers.until('a run has ended', ended);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    const printed = worker.lines.map(({ text }) => text);
    expect(printed.filter((line) => line.includes('spans'))).toEqual([
      expect.stringMatching(/WARN.*the last spans may be lost: /),
    ]);
    expect(printed.filter((line) => /^\s+at /.test(line))).toEqual([]);
  });
});
