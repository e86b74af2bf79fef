import { type Attributes, type BatchObservableResult, type Counter, type Meter } from '@opentelemetry/api';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type SingletonJobRegistry } from '../control/job-registry.js';
import { type JobStatus, type RunOutcome } from '../control/job-status.js';
import { makeInstruments } from './instruments.js';
import { JOB_NAME } from './open-telemetry.options.js';

const MS_PER_SECOND = 1_000;
/** The SDK exports each set of attributes for ever, at most 2,000. Later pauses are in `is_paused` only. */
const MAX_PAUSES = 1_000;

/**
 * An observer that counts and measures what the jobs of this replica do, until `stop()`. It costs almost nothing while
 * no metrics are collected.
 */
export function metricsObserver(
  registry: Pick<SingletonJobRegistry, 'list'>,
  meter: Meter,
): { readonly observer: JobObserver; readonly stop: () => void } {
  const instruments = makeInstruments(meter);
  const { runs, runDuration, scheduleLag, heartbeatDuration } = instruments;
  /** When a run of each job last succeeded here. */
  const succeededAt = new Map<string, number>();
  /** The attributes of each pause that was observed here, as JSON. One that is over becomes 0. */
  const pauses = new Set<string>();
  let clockOffsetMs = 0;

  const count =
    (counter: Counter) =>
    (event: { readonly job: string; readonly reason: string; readonly count?: number }): void => {
      counter.add(event.count ?? 1, { [JOB_NAME]: event.job, reason: event.reason });
    };
  const countTransition = count(instruments.transitions);
  const countRun =
    (outcome: RunOutcome) =>
    ({ job, cause, durationMs }: JobEvents['runSucceeded' | 'runFailed' | 'runCancelled']): void => {
      runs.add(1, { [JOB_NAME]: job, outcome, cause });
      runDuration.record(durationMs / MS_PER_SECOND, { [JOB_NAME]: job, outcome });
    };
  const countSuccess = countRun('succeeded');

  const observer: JobObserver = {
    leadershipGained: ({ job }) => {
      countTransition({ job, reason: 'gained' });
    },
    leadershipLost: countTransition,
    leadershipReleased: countTransition,
    heartbeatAnswered: (heartbeat) => {
      heartbeatDuration.record(heartbeat.roundTripMs / MS_PER_SECOND);
      ({ clockOffsetMs } = heartbeat);
    },
    runStarted: ({ job, cause, scheduledAt, startedAt }) => {
      if (cause === 'trigger') return;
      const lagMs = Math.max(startedAt.getTime() - scheduledAt.getTime(), 0);
      scheduleLag.record(lagMs / MS_PER_SECOND, { [JOB_NAME]: job });
    },
    runSucceeded: (run) => {
      succeededAt.set(run.job, run.startedAt.getTime() + run.durationMs);
      countSuccess(run);
    },
    runFailed: countRun('failed'),
    runCancelled: countRun('cancelled'),
    runInterrupted: ({ job }) => {
      runs.add(1, { [JOB_NAME]: job, outcome: 'interrupted' });
    },
    tickDropped: count(instruments.ticksDropped),
    occurrencesMissed: count(instruments.occurrencesMissed),
  };

  const { isLeader, isPaused, pauseInfo, leaseRemaining, runAge, nextTick, lastSuccess, clockOffset } = instruments;
  const gauges = [isLeader, isPaused, pauseInfo, leaseRemaining, runAge, nextTick, lastSuccess, clockOffset];
  const observePauses = (result: BatchObservableResult, jobs: readonly JobStatus[]): void => {
    const current = new Set(jobs.flatMap(pausesOf).map((pause) => JSON.stringify(pause)));
    for (const pause of current) if (pauses.size < MAX_PAUSES) pauses.add(pause);
    for (const pause of pauses) result.observe(pauseInfo, current.has(pause) ? 1 : 0, JSON.parse(pause) as Attributes);
  };
  /** Observes every gauge each time: the SDK keeps exporting the last value of a gauge that is no longer observed. */
  const observeJob = (result: BatchObservableResult, status: JobStatus): void => {
    const { name, kind, role, pausedAt, leaseRemainingMs, runningSince, nextTickAt } = status;
    const job = { [JOB_NAME]: name };
    // a run of @WhileLeader may take any time
    const runAgeMs = runningSince === null || kind === 'while-leader' ? 0 : Date.now() - Date.parse(runningSince);
    result.observe(isLeader, role === 'leader' ? 1 : 0, job);
    result.observe(isPaused, pausedAt === null ? 0 : 1, job);
    result.observe(leaseRemaining, (leaseRemainingMs ?? 0) / MS_PER_SECOND, job);
    result.observe(runAge, runAgeMs / MS_PER_SECOND, job);
    result.observe(lastSuccess, (succeededAt.get(name) ?? 0) / MS_PER_SECOND, job);
    result.observe(nextTick, (nextTickAt === null ? 0 : Date.parse(nextTickAt)) / MS_PER_SECOND, job);
  };
  const observe = (result: BatchObservableResult): void => {
    const jobs = registry.list();
    for (const status of jobs) if (status.role !== 'disabled') observeJob(result, status);
    observePauses(result, jobs);
    result.observe(clockOffset, clockOffsetMs / MS_PER_SECOND);
  };
  meter.addBatchObservableCallback(observe, gauges);
  return { observer, stop: meter.removeBatchObservableCallback.bind(meter, observe, gauges) };
}

/** The attributes of the pause, if there is more to tell than that the job is paused. That of all jobs names none. */
function pausesOf({ name, pauseScope: scope, pauseReason: reason }: JobStatus): readonly Attributes[] {
  if (scope === 'all') return [{ scope, ...(reason !== null && { reason }) }];
  return scope === 'job' && reason !== null ? [{ scope, [JOB_NAME]: name, reason }] : [];
}
