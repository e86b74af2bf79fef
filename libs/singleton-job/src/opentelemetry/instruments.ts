import { type Meter } from '@opentelemetry/api';

const PREFIX = 'singleton_job.';
const SECONDS = 's';

/** From a millisecond to an hour: runs may be very short or very long. */
const RUN_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600];
const LAG_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];
const ROUND_TRIP_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * Every instrument of the library. Names include the unit, so Prometheus sees the same name whether or not an exporter
 * appends units.
 */
export function makeInstruments(meter: Meter) {
  const gauge = (name: string, description: string, unit?: string) =>
    meter.createObservableGauge(`${PREFIX}${name}`, { description, ...(unit !== undefined && { unit }) });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`${PREFIX}${name}`, { description, unit });
  const histogram = (name: string, explicitBucketBoundaries: number[], description: string) =>
    meter.createHistogram(`${PREFIX}${name}`, { description, unit: SECONDS, advice: { explicitBucketBoundaries } });

  return {
    isLeader: gauge('is_leader', '1 where this replica leads the job, 0 where it does not'),
    isPaused: gauge(
      'is_paused',
      '1 where this replica knows that the job is paused on all replicas, 0 where it is not',
    ),
    pauseInfo: gauge('pause_info', '1 for a pause of all jobs, and of a job with its reason; 0 when it is over'),
    leaseRemaining: gauge('lease_remaining_seconds', 'Until the deadline of the lease; 0 without one', SECONDS),
    runAge: gauge('run_age_seconds', 'How long the run in flight has taken so far; 0 without one', SECONDS),
    nextTick: gauge('next_tick_timestamp_seconds', 'When the next tick is due, Unix time; 0 if unknown', SECONDS),
    lastSuccess: gauge(
      'last_success_timestamp_seconds',
      'When a run last succeeded on this replica, Unix time; 0 if none has',
      SECONDS,
    ),
    clockOffset: gauge('clock_offset_seconds', 'How far the clock of the store is ahead of this one', SECONDS),
    transitions: counter('leadership_transitions', '{transition}', 'Terms that began and ended'),
    runs: counter('runs', '{run}', 'Runs that have ended'),
    ticksDropped: counter('ticks_dropped', '{tick}', 'Ticks that the leader did not start'),
    occurrencesMissed: counter('occurrences_missed', '{occurrence}', 'Cron occurrences that no replica will start'),
    runDuration: histogram('run_duration_seconds', RUN_SECONDS, 'How long runs took'),
    scheduleLag: histogram('schedule_lag_seconds', LAG_SECONDS, 'How long after its tick a run began'),
    heartbeatDuration: histogram('heartbeat_duration_seconds', ROUND_TRIP_SECONDS, 'Round trip of a heartbeat'),
  };
}
