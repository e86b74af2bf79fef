import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type JobEvents, type JobStatus, type SingletonJobRegistry } from 'nestjs-singleton-job';
import { OpenTelemetryObserver } from 'nestjs-singleton-job/opentelemetry';

const JOB = 'price-tick';
const AT = new Date('2027-01-01T00:00:00Z');
const RUN: JobEvents['runSucceeded'] = {
  job: JOB,
  kind: 'fixed-rate',
  cause: 'schedule',
  scheduledAt: AT,
  startedAt: AT,
  fencingToken: 1,
  durationMs: 20,
};

/** A job to which everything happens at once. */
const STATUS: Partial<JobStatus> = {
  name: JOB,
  role: 'leader',
  leaseRemainingMs: 9_000,
  runningSince: AT.toISOString(),
  nextTickAt: AT.toISOString(),
};

export interface ExportedMetrics {
  /** As a scrape has them: `singleton_job_runs_total`. */
  readonly names: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** Every metric that Prometheus can scrape from the library, from the real exporter. */
export async function exportedMetrics(): Promise<ExportedMetrics> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const registry = { list: () => [STATUS] } as unknown as SingletonJobRegistry;
  const observer = new OpenTelemetryObserver(registry, { meterProvider });
  observer.leadershipGained({ job: JOB, fencingToken: 1 });
  observer.leaseRenewed({ job: JOB, fencingToken: 1, roundTripMs: 1, clockOffsetMs: 1 });
  observer.runStarted(RUN);
  observer.runSucceeded(RUN);
  observer.tickDropped({ job: JOB, kind: 'fixed-rate', reason: 'overlap', scheduledAt: AT, count: 1 });
  observer.occurrencesMissed({ job: JOB, reason: 'late', from: AT, to: AT, count: 1 });
  const { resourceMetrics } = await exporter.collect();
  const scraped = new PrometheusSerializer().serialize(resourceMetrics);
  const samples = [...scraped.matchAll(/^(singleton_job_\w+)\{(.*)\} \S+$/gm)];
  const labels = samples.flatMap(([, , list = '']) => [...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label));
  return { names: new Set(samples.map(([, name = '']) => name)), labels: new Set(labels) };
}
