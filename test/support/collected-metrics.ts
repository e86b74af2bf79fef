import { MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { notifyAll } from '../../libs/singleton-job/src/base/events/observer.js';
import { metricsObserver } from '../../libs/singleton-job/src/opentelemetry/metrics-observer.js';
import { type JobStatus, type SingletonJobRegistry } from 'nestjs-singleton-job';

/** When everything happens to job `a`. */
const AT = new Date('2027-01-01T00:00:00Z');

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
  { name: 'off', role: 'disabled', pausedAt: AT.toISOString(), pauseScope: 'all', pauseReason: 'a migration' },
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
  const { observer, stop } = metricsObserver(registry, meterProvider.getMeter('test'));
  const notify = notifyAll([observer]);
  notify('leadershipGained', { job, fencingToken: 1, because: 'first' });
  notify('leadershipLost', { job, fencingToken: 1, reason: 'expired' });
  notify('leadershipReleased', { job, fencingToken: 1, reason: 'shutdown', confirmed: true, runInFlight: false });
  notify('heartbeatAnswered', { roundTripMs: 1, clockOffsetMs: 250 });
  notify('runStarted', RUN);
  notify('runSucceeded', { ...RUN, durationMs: 1 });
  notify('runFailed', { ...RUN, durationMs: 1, error: new Error('no') });
  notify('runCancelled', { ...RUN, durationMs: 1, code: 'TIMEOUT' });
  notify('runInterrupted', { job, startedAt: AT, by: 'b', occurrence: null });
  notify('tickDropped', { job, kind: 'cron', reason: 'overlap', scheduledAt: AT, count: 3 });
  notify('occurrencesMissed', { job, reason: 'late', from: AT, to: AT, count: 4 });
  const { resourceMetrics } = await reader.collect();
  stop();
  await meterProvider.shutdown();
  return resourceMetrics;
}
