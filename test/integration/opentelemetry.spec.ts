import { describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { type DataPoint, DataPointType, MeterProvider, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricsObserver } from '../../libs/singleton-job/src/opentelemetry/metrics-observer.js';
import { until } from '../../tools/replicas/until.js';
import { freePort } from '../../tools/servers/free-port.js';
import { attempt } from '../../tools/workspace/command.js';
import { collectedMetrics, OnDemandReader } from '../support/collected-metrics.js';
import { startDisabled, startRunning } from '../support/nest-application.js';
import { readPage } from '../support/pages.js';
import { Interval, type SingletonJobRegistry } from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';

const kindOf = (type: DataPointType): string => DataPointType[type].toLowerCase().replace('sum', 'counter');
const metricsOf = ({ scopeMetrics }: ResourceMetrics) => scopeMetrics.flatMap(({ metrics }) => metrics);
const collected = async () => metricsOf(await collectedMetrics());
/** The data points of a metric. */
const pointsOf = (metrics: ReturnType<typeof metricsOf>, name: string) =>
  metrics
    .filter(({ descriptor }) => descriptor.name === `singleton_job.${name}`)
    .flatMap(({ dataPoints }) => dataPoints as DataPoint<unknown>[]);

/** An application exports to this reader, or a test reads it. */
function metered() {
  const reader = new OnDemandReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  return { meterProvider, read: async () => metricsOf((await reader.collect()).resourceMetrics) };
}

it('the module refuses to be imported twice, which would count every run twice', async () => {
  const twice = [SingletonJobOpenTelemetryModule, SingletonJobOpenTelemetryModule.forRoot({})];
  await expect(startDisabled({ imports: twice })).rejects.toThrow(/must be imported once/);
});

describe('the metrics', () => {
  it('are those of the table in docs/observability.md: instrument, kind, unit, attributes', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(singleton_job\.\w+)` \| (\w+) \|([^|]*)\|([^|]*)\| [^|]+ \|$/gm)];
    const unticked = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
    const documented = rows.map(([, name, kind, unit, attributes]) => ({
      row: [name, kind, ...unticked(unit)].join(' '),
      attributes: unticked(attributes).filter((text) => /^(job\.name|scope|reason|outcome|cause)$/.test(text)),
    }));
    const actual = (await collected()).map(({ descriptor, dataPointType, dataPoints }) => ({
      row: [descriptor.name, kindOf(dataPointType), ...(descriptor.unit === '' ? [] : [descriptor.unit])].join(' '),
      attributes: Object.keys(dataPoints[0]?.attributes ?? {}),
    }));
    const byRow = (a: { row: string }, b: { row: string }): number => a.row.localeCompare(b.row);
    expect(actual.length).toBeGreaterThanOrEqual(12);
    expect(documented.toSorted(byRow)).toEqual(actual.toSorted(byRow));
  });

  it('are in seconds, by the reason of a change and the outcome of a run, and without disabled jobs', async () => {
    const lines = new PrometheusSerializer().serialize(await collectedMetrics()).split('\n');
    // the age of a run grows
    expect(lines.filter((line) => /^singleton_job(?!_run_age|.*_bucket)/.test(line)).join('\n')).toMatchSnapshot();
  });

  it('have no old term, run or tick, and are exported only until the application has stopped', async () => {
    const { meterProvider, read } = metered();
    const at = new Date(Date.now() - 60_000).toISOString();
    const times = { leaseRemainingMs: 9_000, runningSince: at, nextTickAt: at };
    // never both in fact: here every gauge has a value
    const leading = { name: 'a', role: 'leader', pausedAt: at, ...times };
    const following = { name: 'a', role: 'follower', pausedAt: null };
    let status: object = leading;
    const list = jest.fn(() => [status]);
    const registry = { list } as unknown as SingletonJobRegistry;
    const { observer, stop } = metricsObserver(registry, meterProvider.getMeter('test'));
    const zeros = async (): Promise<string[]> => {
      const gauges = (await read()).filter(({ dataPointType }) => dataPointType === DataPointType.GAUGE);
      return gauges.filter(({ dataPoints }) => dataPoints[0]?.value === 0).map(({ descriptor }) => descriptor.name);
    };
    observer.heartbeatAnswered?.({ roundTripMs: 1, clockOffsetMs: 250 });
    expect(await zeros()).toEqual(['singleton_job.last_success_timestamp_seconds']);
    status = { ...following, leaseRemainingMs: null, runningSince: null, nextTickAt: null };
    expect(await zeros()).toHaveLength(6);
    stop();
    await read();
    expect(list).toHaveBeenCalledTimes(2);
    await meterProvider.shutdown();
  });
});

describe('the gauges of pauses', () => {
  const PAUSED_AT = '2027-01-01T00:00:00.000Z';
  /** The attributes of the points that are 1, for each of these states of the jobs. */
  const observed = async (gauge: string, states: readonly (readonly object[])[]): Promise<unknown[]> => {
    const { meterProvider, read } = metered();
    let jobs: readonly object[] = [];
    const registry = { list: () => jobs } as unknown as SingletonJobRegistry;
    const { stop } = metricsObserver(registry, meterProvider.getMeter('test'));
    const shown: unknown[] = [];
    for (const state of states) {
      jobs = state.map((pause, i) => ({ name: `job-${i}`, role: 'paused', pausedAt: PAUSED_AT, ...pause }));
      const points = pointsOf(await read(), gauge);
      shown.push(points.filter(({ value }) => value === 1).map(({ attributes }) => attributes));
    }
    stop();
    await meterProvider.shutdown();
    return shown;
  };

  it('have one point for a pause of all jobs, one for each reason, and none for a pause that is over', async () => {
    const all = { pauseScope: 'all', pauseReason: 'a migration' };
    const own = { pauseScope: 'job', pauseReason: 'no feed' };
    const states = [[all, all], [own, { pauseScope: 'job', pauseReason: null }], []];
    expect(await observed('pause_info', states)).toEqual([
      [{ scope: 'all', reason: 'a migration' }],
      [{ scope: 'job', 'job.name': 'job-0', reason: 'no feed' }],
      [],
    ]);
  });

  it('show each of 800 jobs as paused after any number of reasons', async () => {
    const states = ['a', 'b', 'c'].map(
      (pauseReason) => Array(800).fill({ pauseScope: 'job', pauseReason }) as object[],
    );
    expect((await observed('is_paused', states)).map((paused) => (paused as unknown[]).length)).toEqual([
      800, 800, 800,
    ]);
  });
});

/** Prints the metrics of runs that Prometheus scrapes from it. */
const APPLICATION = `
  import { NestFactory } from '@nestjs/core';
  import { SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';
  import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
  class AppModule {}
  const imports = [SingletonJobModule.forRoot({ projectName: 'shop', store: 'memory' }), SingletonJobOpenTelemetryModule];
  const app = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
  const ran = new Promise((resolve) => {
    app.get(SingletonJobRegistry).register({ name: 'price-tick', schedule: { delay: '1h' }, run: () => setImmediate(resolve) });
  });
  await ran;
  const answer = await fetch('http://127.0.0.1:' + process.env.METRICS_PORT + '/metrics');
  console.log((await answer.text()).split('\\n').filter((line) => line.startsWith('singleton_job_runs_total')).join());
  process.exit();
`;

describe('an application that imports the module', () => {
  it('is scraped by Prometheus if the file of the page is loaded before it', async () => {
    const file = join(import.meta.dirname, 'telemetry-sample.ts');
    expect(readPage('docs/observability.md')).toContain(readFileSync(file, 'utf8'));
    const args = ['--import', 'tsx', '--import', file, '--input-type=module', '--eval', APPLICATION];
    const env = { METRICS_PORT: String(await freePort()) };
    const { output } = await attempt(process.execPath, args, { env });
    expect(output).toMatch(/^singleton_job_runs_total\{job_name="price-tick",outcome="succeeded",.*\} 1\n$/);
  });

  it.each<[string, number, Parameters<typeof SingletonJobOpenTelemetryModule.forRoot>[0]]>([
    ['logs one warning without an SDK', 1, {}],
    ['logs none if it has a provider of metrics', 0, { meterProvider: metered().meterProvider }],
    ['logs none if it has a provider of traces', 0, { tracerProvider: new NodeTracerProvider() }],
  ])('%s', async (_, count, options) => {
    await using started = await startDisabled({ imports: [SingletonJobOpenTelemetryModule.forRoot(options)] });
    expect(started.logger.lines.filter((line) => line.includes('no SDK of OpenTelemetry'))).toHaveLength(count);
  });

  it('has metrics without another entry in its options', async () => {
    @Injectable()
    class Report {
      @Interval('1h', { name: 'report' })
      write(): void {}
    }
    const { meterProvider, read } = metered();
    const imports = [SingletonJobOpenTelemetryModule.forRoot({ meterProvider })];
    await using started = await startRunning({ imports, providers: [Report] });
    expect(started.jobs()).toHaveLength(1);
    const runs = async () => pointsOf(await read(), 'runs').map(({ value }) => value);
    await until('its run is counted', async () => (await runs()).length > 0);
    expect(await runs()).toEqual([1]);
    await meterProvider.shutdown();
  });
});
