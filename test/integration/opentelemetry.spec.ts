import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { FixedRate, type JobObserver, SingletonJobRegistry } from 'nestjs-singleton-job';
import { OpenTelemetryObserver } from 'nestjs-singleton-job/opentelemetry';
import { useRedis } from '../../tools/replicas/redis/use-redis.js';
import { ScrapedReplica } from '../support/scraped-replica.js';
import { until } from '../../tools/replicas/until.js';

@Injectable()
class Prices {
  runs = 0;

  @FixedRate('50ms', { name: 'prices' })
  tick(): void {
    this.runs += 1;
    if (this.runs % 2 === 0) throw new Error('every other run');
  }
}

const JOB = { job_name: 'prices' };

class OnDemand extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const KINDS: Readonly<Record<DataPointType, string>> = {
  [DataPointType.GAUGE]: 'gauge',
  [DataPointType.SUM]: 'counter',
  [DataPointType.HISTOGRAM]: 'histogram',
  [DataPointType.EXPONENTIAL_HISTOGRAM]: 'exponential histogram',
};

const AT = new Date('2027-01-01T00:00:00Z');
const RUN = { job: 'a', kind: 'cron', cause: 'schedule', scheduledAt: AT, startedAt: AT, fencingToken: 1 } as const;

/** Everything that an observer can be told of a job. */
function tellEverything(
  observer: Required<Pick<OpenTelemetryObserver, keyof JobObserver & keyof OpenTelemetryObserver>>,
) {
  const job = 'a';
  observer.leadershipGained({ job, fencingToken: 1 });
  observer.leadershipLost({ job, fencingToken: 1, reason: 'expired' });
  observer.leadershipReleased({ job, fencingToken: 1, reason: 'shutdown', confirmed: true });
  observer.leaseRenewed({ job, fencingToken: 1, roundTripMs: 1, clockOffsetMs: 250 });
  observer.runStarted(RUN);
  observer.runSucceeded({ ...RUN, durationMs: 1 });
  observer.runFailed({ ...RUN, durationMs: 1, error: new Error('no') });
  observer.runCancelled({ ...RUN, durationMs: 1, code: 'TIMEOUT' });
  observer.tickDropped({ job, kind: 'cron', reason: 'overlap', scheduledAt: AT, count: 3 });
  observer.occurrencesMissed({ job, reason: 'late', from: AT, to: AT, count: 4 });
}

/** Every instrument after everything has happened: its row in the table of the page, and its points. */
async function collected() {
  const reader = new OnDemand();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const status = { name: 'a', role: 'leader', leaseRemainingMs: 9_000, runningSince: AT.toISOString() };
  const registry = {
    list: () => [
      { ...status, nextTickAt: AT.toISOString() },
      { name: 'off', role: 'disabled' },
    ],
  };
  const observer = new OpenTelemetryObserver(registry as unknown as SingletonJobRegistry, { meterProvider });
  tellEverything(observer);
  const { resourceMetrics } = await reader.collect();
  observer.onApplicationShutdown();
  await meterProvider.shutdown();
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
}

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

  it('are in seconds, and say nothing of disabled jobs', async () => {
    const metrics = await collected();
    const valuesOf = (name: string): unknown[] =>
      metrics
        .filter(({ descriptor }) => descriptor.name === `singleton_job.${name}`)
        .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => value));
    expect(valuesOf('is_leader')).toEqual([1]);
    expect(valuesOf('lease_remaining_seconds')).toEqual([9]);
    expect(valuesOf('next_tick_timestamp_seconds')).toEqual([AT.getTime() / 1_000]);
    expect(valuesOf('clock_offset_seconds')).toEqual([0.25]);
    expect(valuesOf('ticks_dropped')).toEqual([3]);
    expect(valuesOf('misfires')).toEqual([4]);
    expect(valuesOf('heartbeat_duration_seconds')).toEqual([expect.objectContaining({ count: 1, sum: 0.001 })]);
  });

  it('say nothing any more of a term, a run, a tick and a clock that are of the past', async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    const meterProvider = new MeterProvider({ readers: [exporter] });
    const at = new Date(Date.now() - 60_000).toISOString();
    const leading = { name: 'a', role: 'leader', leaseRemainingMs: 9_000, runningSince: at, nextTickAt: at };
    let status: object = leading;
    const registry = { list: () => [status] } as unknown as SingletonJobRegistry;
    const observer = new OpenTelemetryObserver(registry, { meterProvider });
    const gauges = async (): Promise<Record<string, unknown>> => {
      const { scopeMetrics } = (await exporter.collect()).resourceMetrics;
      const all = scopeMetrics.flatMap(({ metrics }) => metrics);
      const some = all.filter(({ dataPointType }) => dataPointType === DataPointType.GAUGE);
      return Object.fromEntries(some.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.value]));
    };
    const nothing = {
      'singleton_job.is_leader': 0,
      'singleton_job.lease_remaining_seconds': 0,
      'singleton_job.run_age_seconds': 0,
      'singleton_job.next_tick_timestamp_seconds': 0,
      'singleton_job.clock_offset_seconds': 0,
    };
    observer.leaseRenewed({ job: 'a', fencingToken: 1, roundTripMs: 1, clockOffsetMs: 250 });
    expect(Object.values(await gauges())).not.toContain(0);
    status = { name: 'a', role: 'follower', leaseRemainingMs: null, runningSince: null, nextTickAt: null };
    expect(await gauges()).toEqual(nothing);
    // it leads again, and has not measured anything yet
    status = leading;
    expect((await gauges())['singleton_job.clock_offset_seconds']).toBe(0);
    observer.onApplicationShutdown();
    await meterProvider.shutdown();
  });

  it('go out only while the application lives, for the meter outlives it', async () => {
    const reader = new OnDemand();
    const meterProvider = new MeterProvider({ readers: [reader] });
    let asked = 0;
    const list = (): [] => {
      asked += 1;
      return [];
    };
    const observer = new OpenTelemetryObserver({ list } as unknown as SingletonJobRegistry, { meterProvider });
    await reader.collect();
    expect(asked).toBe(1);
    observer.onApplicationShutdown();
    await reader.collect();
    expect(asked).toBe(1);
    await meterProvider.shutdown();
  });
});

describe('two replicas that Prometheus scrapes', () => {
  const redis = useRedis();

  it('agree that one of them leads, and on which one when it has gone', async () => {
    const timing = { heartbeatInterval: '100ms', lockExpiry: '10s' } as const;
    const options = { projectName: `otel-${randomUUID()}`, connection: redis().url, ...timing };
    const replicas = [await ScrapedReplica.start(Prices, options), await ScrapedReplica.start(Prices, options)];
    const isLeader = (replica: ScrapedReplica) => replica.values('singleton_job_is_leader', JOB);
    const all = async () => (await Promise.all(replicas.map(isLeader))).flat().toSorted();
    try {
      await until('one leads', async () => (await all()).includes(1));
      expect(await all()).toEqual([0, 1]);

      const leads = await Promise.all(replicas.map(async (replica) => (await isLeader(replica))[0] === 1));
      const leader = replicas[leads.indexOf(true)] as ScrapedReplica;
      const follower = replicas[leads.indexOf(false)] as ScrapedReplica;
      const ran = (outcome: string) =>
        leader.values('singleton_job_runs_total', { ...JOB, outcome, cause: 'schedule' });
      await until('it has run', async () => ((await ran('failed'))[0] ?? 0) >= 2);
      await until(
        'it has renewed',
        async () => (await leader.values('singleton_job_heartbeat_duration_seconds_count')).length > 0,
      );
      expect((await ran('succeeded'))[0]).toBeGreaterThanOrEqual(2);

      const samples = await leader.scrape();
      const one = (name: string): number => samples.find((sample) => sample.name === name)?.value ?? NaN;
      expect(one('singleton_job_heartbeat_duration_seconds_count')).toBeGreaterThanOrEqual(1);
      expect(one('singleton_job_schedule_lag_seconds_count')).toBeGreaterThanOrEqual(4);
      expect(one('singleton_job_run_duration_seconds_count')).toBeGreaterThanOrEqual(2);
      expect(one('singleton_job_lease_remaining_seconds')).toBeGreaterThan(0);
      expect(one('singleton_job_lease_remaining_seconds')).toBeLessThanOrEqual(9);
      // Redis runs on this machine; an answer that takes long leaves half of that in doubt
      expect(Math.abs(one('singleton_job_clock_offset_seconds'))).toBeLessThan(5);
      expect(one('singleton_job_next_tick_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000 - 60);
      expect(await follower.values('singleton_job_runs_total')).toEqual([]);
      expect(await follower.values('singleton_job_lease_remaining_seconds')).toEqual([0]);

      await leader.started.app.get(SingletonJobRegistry).stepDown('prices');
      await until('the other leads', async () => (await isLeader(follower))[0] === 1);
      expect(await isLeader(leader)).toEqual([0]);
      const reasons = async (reason: string) =>
        leader.values('singleton_job_leadership_transitions_total', { ...JOB, reason });
      expect([await reasons('gained'), await reasons('stepped-down')]).toEqual([[1], [1]]);
    } finally {
      for (const replica of replicas) await replica[Symbol.asyncDispose]();
    }
  });
});
