import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DataPointType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { Interval, type SingletonJobRegistry } from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { metricsObserver } from '../../libs/singleton-job/src/opentelemetry/metrics-observer.js';
import { AT, collectedMetrics, OnDemandReader } from '../support/collected-metrics.js';
import { startDisabled } from '../support/nest-application.js';
import { until } from '../../tools/replicas/until.js';

const KINDS: Readonly<Record<DataPointType, string>> = {
  [DataPointType.GAUGE]: 'gauge',
  [DataPointType.SUM]: 'counter',
  [DataPointType.HISTOGRAM]: 'histogram',
  [DataPointType.EXPONENTIAL_HISTOGRAM]: 'exponential histogram',
};

const RUNS = 'singleton_job.runs';

const collected = async () => (await collectedMetrics()).scopeMetrics.flatMap(({ metrics }) => metrics);

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
      attributes: unticked(attributes).filter((text) => /^(job\.name|reason|outcome|cause)$/.test(text)),
    }));
    const actual = (await collected()).map(({ descriptor, dataPointType, dataPoints }) => ({
      row: [descriptor.name, KINDS[dataPointType], ...(descriptor.unit === '' ? [] : [descriptor.unit])].join(' '),
      attributes: Object.keys(dataPoints[0]?.attributes ?? {}),
    }));
    const byRow = (a: { row: string }, b: { row: string }): number => a.row.localeCompare(b.row);
    expect(actual.length).toBeGreaterThanOrEqual(12);
    expect(documented.toSorted(byRow)).toEqual(actual.toSorted(byRow));
  });

  it('are in seconds, without disabled jobs', async () => {
    const metrics = await collected();
    const valuesOf = (name: string): unknown[] =>
      metrics
        .filter(({ descriptor }) => descriptor.name === `singleton_job.${name}`)
        .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => value));
    expect(valuesOf('is_leader')).toEqual([1]);
    expect(valuesOf('lease_remaining_seconds')).toEqual([9]);
    expect(valuesOf('next_tick_timestamp_seconds')).toEqual([AT.getTime() / 1_000]);
    expect(valuesOf('last_success_timestamp_seconds')).toEqual([(AT.getTime() + 1) / 1_000]);
    expect(valuesOf('clock_offset_seconds')).toEqual([0.25]);
    expect(valuesOf('ticks_dropped')).toEqual([3]);
    expect(valuesOf('occurrences_missed')).toEqual([4]);
    expect(valuesOf('heartbeat_duration_seconds')).toEqual([expect.objectContaining({ count: 1, sum: 0.001 })]);
  });

  it('count changes of leadership by their reasons, and runs by their outcomes', async () => {
    const metrics = await collected();
    const countedBy = (name: string, attribute: string): unknown[] =>
      metrics
        .filter(({ descriptor }) => descriptor.name === `singleton_job.${name}`)
        .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [attributes[attribute], value]));
    expect(countedBy('leadership_transitions', 'reason')).toEqual([
      ['gained', 1],
      ['expired', 1],
      ['shutdown', 1],
    ]);
    expect(countedBy('runs', 'outcome')).toEqual([
      ['succeeded', 1],
      ['failed', 1],
      ['cancelled', 1],
      ['interrupted', 1],
    ]);
  });

  it('have no old term, run, tick or clock offset', async () => {
    const reader = new OnDemandReader();
    const meterProvider = new MeterProvider({ readers: [reader] });
    const at = new Date(Date.now() - 60_000).toISOString();
    // never both in fact: here every gauge has a value
    const leading = {
      name: 'a',
      role: 'leader',
      pausedAt: at,
      leaseRemainingMs: 9_000,
      runningSince: at,
      nextTickAt: at,
    };
    let status: object = leading;
    const registry = { list: () => [status] } as unknown as SingletonJobRegistry;
    const { observer, stop } = metricsObserver(registry, meterProvider.getMeter('test'));
    const gauges = async (): Promise<Record<string, unknown>> => {
      const { scopeMetrics } = (await reader.collect()).resourceMetrics;
      const all = scopeMetrics.flatMap(({ metrics }) => metrics);
      const some = all.filter(({ dataPointType }) => dataPointType === DataPointType.GAUGE);
      return Object.fromEntries(some.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.value]));
    };
    const nothing = {
      'singleton_job.is_leader': 0,
      'singleton_job.is_paused': 0,
      'singleton_job.lease_remaining_seconds': 0,
      'singleton_job.run_age_seconds': 0,
      'singleton_job.next_tick_timestamp_seconds': 0,
      'singleton_job.last_success_timestamp_seconds': 0,
      'singleton_job.clock_offset_seconds': 0,
    };
    observer.leaseRenewed?.({ job: 'a', fencingToken: 1, roundTripMs: 1, clockOffsetMs: 250 });
    const zeros = Object.entries(await gauges()).filter(([, value]) => value === 0);
    expect(zeros.map(([name]) => name)).toEqual(['singleton_job.last_success_timestamp_seconds']);
    status = {
      name: 'a',
      role: 'follower',
      pausedAt: null,
      leaseRemainingMs: null,
      runningSince: null,
      nextTickAt: null,
    };
    expect(await gauges()).toEqual(nothing);
    // it leads again, and has not measured anything yet
    status = leading;
    expect((await gauges())['singleton_job.clock_offset_seconds']).toBe(0);
    stop();
    await meterProvider.shutdown();
  });

  it('are exported only until the application has stopped', async () => {
    const reader = new OnDemandReader();
    const meterProvider = new MeterProvider({ readers: [reader] });
    let calls = 0;
    const list = (): [] => {
      calls += 1;
      return [];
    };
    const { stop } = metricsObserver({ list }, meterProvider.getMeter('test'));
    await reader.collect();
    expect(calls).toBe(1);
    stop();
    await reader.collect();
    expect(calls).toBe(1);
    await meterProvider.shutdown();
  });
});

describe('an application that imports the module', () => {
  it('has metrics without another entry in its options', async () => {
    @Injectable()
    class Report {
      @Interval('1h', { name: 'report' })
      write(): void {}
    }
    const reader = new OnDemandReader();
    const meterProvider = new MeterProvider({ readers: [reader] });
    const imports = [SingletonJobOpenTelemetryModule.forRoot({ meterProvider })];
    await using started = await startDisabled({ imports, providers: [Report] }, { enabled: true, store: 'memory' });
    expect(started.jobs()).toHaveLength(1);
    const runs = async (): Promise<unknown[]> => {
      const { scopeMetrics } = (await reader.collect()).resourceMetrics;
      const counter = scopeMetrics.flatMap(({ metrics }) => metrics).find(({ descriptor }) => descriptor.name === RUNS);
      return counter?.dataPoints.map(({ value }) => value) ?? [];
    };
    await until('its run is counted', async () => (await runs()).length > 0);
    expect(await runs()).toEqual([1]);
    await meterProvider.shutdown();
  });
});
