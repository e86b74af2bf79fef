import { describe, expect, it } from '@jest/globals';
import { SLACK_MS } from '../support/busy-machine.js';
import { useRedis } from '../support/redis.js';
import { SpanCollector } from '../support/span-collector.js';
import { Workers } from '../support/worker-fleet.js';
import { WorkerProcess, type WorkerVariables } from '../support/worker-process.js';

const redis = useRedis();

let workers = 0;

/** One worker of a project of its own. */
function start(variables: WorkerVariables): WorkerProcess {
  const own = {
    REDIS_URL: redis().url,
    PROJECT_NAME: `watched-${process.pid}-${++workers}`,
    PRICE_TICK_SLOW_EVERY: '0',
  };
  return new WorkerProcess('a', { ...own, ...variables });
}

/** The log of a worker that runs its jobs. */
async function logOf(format: 'text' | 'json', job: RegExp): Promise<string> {
  const worker = start({ LOG_LEVEL: 'debug', LOG_FORMAT: format });
  await using fleet = Workers.of(worker);
  const find = (): string | undefined => worker.lines.map(({ text }) => text).find((text) => job.test(text));
  await fleet.until(`it logs ${String(job)}`, () => find() !== undefined);
  return find() ?? '';
}

describe('a line that a job logs', () => {
  it('says in which run, as text', async () => {
    expect(await logOf('text', /\[Prices\]/)).toMatch(/\[Prices\] \[price-tick \d{4}-\S+Z #\d+\] 10\d\.\d\d/);
  });

  it('says in which run, as JSON', async () => {
    expect(JSON.parse(await logOf('json', /"Prices"/))).toMatchObject({
      context: 'Prices',
      run: { job: 'price-tick', scheduledAt: expect.any(String), fencingToken: expect.any(Number) },
    });
  });

  it('is no different outside of any run', async () => {
    expect(JSON.parse(await logOf('json', /answers at/))).not.toHaveProperty('run');
  });
});

describe('the spans of a worker', () => {
  it('arrive at the collector that its environment names, one for each run, the last ones too', async () => {
    await using collector = await SpanCollector.start();
    const worker = start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' });
    await using fleet = Workers.of(worker);
    await fleet.until('spans have arrived', () => collector.spans.length > 5);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    const runs = worker.events.filter(({ event }) => event === 'runStarted');
    const told = runs.map(({ payload }) => `run ${String(payload?.job)} ${String(payload?.scheduledAt)}`);
    const sent = collector.spans.map(({ name, attributes }) => `${name} ${String(attributes.get('job.scheduled_at'))}`);
    expect(sent.toSorted()).toEqual(told.toSorted());
    expect(new Set(collector.spans.map(({ service }) => service.get('service.instance.id')))).toEqual(new Set(['a']));
    expect(Number(collector.spans[0]?.attributes.get('job.fencing_token'))).toBeGreaterThan(0);
  });

  it('do not keep it from ending where nobody takes them', async () => {
    // nobody listens there
    const worker = start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', SHUTDOWN_TIMEOUT: '3s' });
    await using fleet = Workers.of(worker);
    await fleet.untilJobsGoOn(0);
    const askedAtMs = Date.now();
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    expect(worker.exitedAtMs - askedAtMs).toBeLessThan(3_000 + 1_000 + SLACK_MS);
  });
});
