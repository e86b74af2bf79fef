import { MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { type JobStatus, type SingletonJobRegistry } from 'nestjs-singleton-job';
import { OpenTelemetryObserver } from '../../libs/singleton-job/src/opentelemetry/open-telemetry-observer.js';

/** When everything happens to job `a`. */
export const AT = new Date('2027-01-01T00:00:00Z');

const job = 'a';
const RUN = { job, kind: 'cron', cause: 'schedule', scheduledAt: AT, startedAt: AT, fencingToken: 1 } as const;
const STATUS: readonly Partial<JobStatus>[] = [
  {
    name: job,
    role: 'leader',
    pausedAt: null,
    leaseRemainingMs: 9_000,
    runningSince: AT.toISOString(),
    nextTickAt: AT.toISOString(),
  },
  { name: 'off', role: 'disabled' },
];

/** Collects on request. */
export class OnDemandReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** Every instrument of the library, after every event has happened once. */
export async function collectedMetrics(): Promise<ResourceMetrics> {
  const reader = new OnDemandReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const registry = { list: () => STATUS } as unknown as SingletonJobRegistry;
  const observer = new OpenTelemetryObserver(registry, { meterProvider });
  observer.leadershipGained({ job, fencingToken: 1, because: 'first' });
  observer.leadershipLost({ job, fencingToken: 1, reason: 'expired' });
  observer.leadershipReleased({ job, fencingToken: 1, reason: 'shutdown', confirmed: true, runInFlight: false });
  observer.leaseRenewed({ job, fencingToken: 1, roundTripMs: 1, clockOffsetMs: 250 });
  observer.runStarted(RUN);
  observer.runSucceeded({ ...RUN, durationMs: 1 });
  observer.runFailed({ ...RUN, durationMs: 1, error: new Error('no') });
  observer.runCancelled({ ...RUN, durationMs: 1, code: 'TIMEOUT' });
  observer.tickDropped({ job, kind: 'cron', reason: 'overlap', scheduledAt: AT, count: 3 });
  observer.occurrencesMissed({ job, reason: 'late', from: AT, to: AT, count: 4 });
  const { resourceMetrics } = await reader.collect();
  observer.onApplicationShutdown();
  await meterProvider.shutdown();
  return resourceMetrics;
}
