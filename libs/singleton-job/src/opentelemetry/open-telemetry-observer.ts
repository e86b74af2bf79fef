import { Inject, Injectable, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { type BatchObservableResult, type Meter, metrics } from '@opentelemetry/api';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { SingletonJobRegistry } from '../control/job-registry.js';
import { type JobStatus, type RunOutcome } from '../control/job-status.js';
import { type Instruments, makeInstruments } from './instruments.js';
import { JOB_NAME, OPEN_TELEMETRY_OPTIONS, type OpenTelemetryOptions, SCOPE } from './open-telemetry.options.js';

const MS_PER_SECOND = 1_000;

/** Counts and measures what the jobs of this replica do. It costs almost nothing while no metrics are collected. */
@Injectable()
export class OpenTelemetryObserver implements JobObserver, OnApplicationShutdown {
  readonly #instruments: Instruments;
  readonly #stopObserving: () => void;
  /** When a run of each job last succeeded here. */
  readonly #succeededAt = new Map<string, number>();
  #clockOffsetMs = 0;

  constructor(
    @Inject(SingletonJobRegistry) private readonly registry: SingletonJobRegistry,
    @Optional() @Inject(OPEN_TELEMETRY_OPTIONS) options?: OpenTelemetryOptions | null,
  ) {
    const meter = (options?.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE);
    this.#instruments = makeInstruments(meter);
    this.#stopObserving = this.#observeGauges(meter);
  }

  leadershipGained({ job }: JobEvents['leadershipGained']): void {
    this.#instruments.transitions.add(1, { [JOB_NAME]: job, reason: 'gained' });
  }

  leadershipLost({ job, reason }: JobEvents['leadershipLost']): void {
    this.#instruments.transitions.add(1, { [JOB_NAME]: job, reason });
  }

  leadershipReleased({ job, reason }: JobEvents['leadershipReleased']): void {
    this.#instruments.transitions.add(1, { [JOB_NAME]: job, reason });
  }

  leaseRenewed({ roundTripMs, clockOffsetMs }: JobEvents['leaseRenewed']): void {
    // without the job: both belong to the process and its Redis
    this.#instruments.heartbeatDuration.record(roundTripMs / MS_PER_SECOND);
    this.#clockOffsetMs = clockOffsetMs;
  }

  runStarted({ job, cause, scheduledAt, startedAt }: JobEvents['runStarted']): void {
    if (cause === 'trigger') return;
    const lagMs = Math.max(startedAt.getTime() - scheduledAt.getTime(), 0);
    this.#instruments.scheduleLag.record(lagMs / MS_PER_SECOND, { [JOB_NAME]: job });
  }

  runSucceeded(run: JobEvents['runSucceeded']): void {
    this.#succeededAt.set(run.job, run.startedAt.getTime() + run.durationMs);
    this.#ended(run, 'succeeded');
  }

  runFailed(run: JobEvents['runFailed']): void {
    this.#ended(run, 'failed');
  }

  runCancelled(run: JobEvents['runCancelled']): void {
    this.#ended(run, 'cancelled');
  }

  tickDropped({ job, reason, count }: JobEvents['tickDropped']): void {
    this.#instruments.ticksDropped.add(count, { [JOB_NAME]: job, reason });
  }

  runInterrupted({ job }: JobEvents['runInterrupted']): void {
    this.#instruments.runs.add(1, { [JOB_NAME]: job, outcome: 'interrupted' });
  }

  occurrencesMissed({ job, reason, count }: JobEvents['occurrencesMissed']): void {
    this.#instruments.occurrencesMissed.add(count, { [JOB_NAME]: job, reason });
  }

  /** The meter outlives the application. */
  onApplicationShutdown(): void {
    this.#stopObserving();
  }

  #ended({ job, cause, durationMs }: JobEvents['runSucceeded'], outcome: RunOutcome): void {
    this.#instruments.runs.add(1, { [JOB_NAME]: job, outcome, cause });
    this.#instruments.runDuration.record(durationMs / MS_PER_SECOND, { [JOB_NAME]: job, outcome });
  }

  #observeGauges(meter: Meter): () => void {
    const { isLeader, isPaused, leaseRemaining, runAge, nextTick, lastSuccess, clockOffset } = this.#instruments;
    const gauges = [isLeader, isPaused, leaseRemaining, runAge, nextTick, lastSuccess, clockOffset];
    const observe = (result: BatchObservableResult): void => {
      const jobs = this.registry.list().filter(({ role }) => role !== 'disabled');
      for (const status of jobs) this.#observeJob(result, status);
      // only a leader measures it, at heartbeats: without one the last value is out of date
      if (!jobs.some(({ role }) => role === 'leader')) this.#clockOffsetMs = 0;
      result.observe(clockOffset, this.#clockOffsetMs / MS_PER_SECOND);
    };
    meter.addBatchObservableCallback(observe, gauges);
    return () => {
      meter.removeBatchObservableCallback(observe, gauges);
    };
  }

  /** Observes every gauge each time: the SDK keeps exporting the last value of a gauge that is no longer observed. */
  #observeJob(result: BatchObservableResult, status: JobStatus): void {
    const { isLeader, isPaused, leaseRemaining, runAge, nextTick, lastSuccess } = this.#instruments;
    const { name, kind, role, pausedAt, leaseRemainingMs, runningSince, nextTickAt } = status;
    const job = { [JOB_NAME]: name };
    // a run of @WhileLeader may take any time
    const runAgeMs = runningSince === null || kind === 'while-leader' ? 0 : Date.now() - Date.parse(runningSince);
    result.observe(isLeader, role === 'leader' ? 1 : 0, job);
    result.observe(isPaused, pausedAt === null ? 0 : 1, job);
    result.observe(leaseRemaining, (leaseRemainingMs ?? 0) / MS_PER_SECOND, job);
    result.observe(runAge, runAgeMs / MS_PER_SECOND, job);
    result.observe(lastSuccess, (this.#succeededAt.get(name) ?? 0) / MS_PER_SECOND, job);
    result.observe(nextTick, (nextTickAt === null ? 0 : Date.parse(nextTickAt)) / MS_PER_SECOND, job);
  }
}
