import { CRON_JOBS, GRID_PERIOD_MS } from '../../test/faults/replica/order.js';
import { cron, type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import {
  type History,
  type Open,
  type WitnessedDrop,
  type WitnessedReport,
  type WitnessedTerm,
} from '../../test/support/checker.js';
import { dueOccurrences } from '../../test/support/due-occurrences.js';
import { holdingsIn } from './holdings.js';
import { confirmationsIn, Leases } from './leases.js';
import { runsIn } from './runs.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS, SHUTDOWN_TIMEOUT_MS, TOLERANCE_MS } from './settings.js';
import { processesIn, refusalsIn, sightsIn, stepsIn } from './steps.js';
import { type Testimony, toldMs, worstLagMs } from './testimony.js';
import { troublesIn } from './troubles.js';
import { type Wires } from './wires.js';
import { type Witness } from './witness.js';

const SCHEDULES: ReadonlyMap<string, CronSchedule> = new Map(
  Object.entries(CRON_JOBS).map(([jobName, expression]) => [jobName, cron(expression, { timeZone: 'UTC', jobName })]),
);

const GRIDS: ReadonlyMap<string, number> = new Map(['grid', 'obedient'].map((job) => [job, GRID_PERIOD_MS]));

/** One machine has one clock; how long anything travels on it nobody can say. */
const SETTINGS = {
  heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
  lockExpiryMs: LOCK_EXPIRY_MS,
  shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
  drift: 0,
};

/** What the witness wrote down, and what the wires showed, as the checker wants to read it. */
export function historyOf(
  { record: heard, epochMs }: Pick<Witness, 'record' | 'epochMs'>,
  { exchanges }: Pick<Wires, 'exchanges'>,
): History {
  // what a replica says counts from when it says it: its monotonic clock is that of the witness
  const record = heard.map((testimony) => ({ ...testimony, atMs: toldMs(testimony) }));
  const [confirmations, faults] = [confirmationsIn(exchanges), troublesIn(record)];
  const runs = runsIn(record, new Leases(confirmations));
  const reports = record.flatMap(reportIn);
  const due = new Map([...SCHEDULES].map(([job, schedule]) => [job, dueOccurrences(schedule, job, { runs, reports })]));
  return {
    runs,
    reports,
    due,
    grids: GRIDS,
    drops: record.flatMap(dropIn),
    terms: termsIn(record),
    faults,
    confirmations,
    holdings: holdingsIn(exchanges, faults),
    processes: processesIn(record, exchanges),
    steps: stepsIn(exchanges),
    sights: sightsIn(exchanges),
    refusals: refusalsIn(exchanges),
    settings: { ...SETTINGS, epochMs, toleranceMs: TOLERANCE_MS + worstLagMs(heard) },
  };
}

function reportIn({ event, atMs, replica, job = '', ...facts }: Testimony): WitnessedReport[] {
  const { from = 0, to = 0, reason = '', scheduledAt = 0, count = 0 } = facts;
  const schedule = SCHEDULES.get(job);
  if (event === 'missed') return [{ job, process: replica, from, to, reason, atMs }];
  if (event !== 'dropped' || schedule === undefined) return [];
  let oldest = scheduledAt;
  for (let dropped = 0; dropped < count; dropped++) oldest = schedule.latest(0, oldest - 1) ?? 0;
  return [{ job, process: replica, from: oldest, to: scheduledAt, reason, atMs }];
}

function dropIn({ event, atMs, replica, job = '', scheduledAt = 0, count = 0 }: Testimony): WitnessedDrop[] {
  return event === 'dropped' && GRIDS.has(job) ? [{ job, process: replica, scheduledAt, count, atMs }] : [];
}

function termsIn(record: readonly Testimony[]): WitnessedTerm[] {
  const terms: Open<WitnessedTerm>[] = [];
  const end = (replica: string, endedMs: number, how: WitnessedTerm['end'], job?: string): void => {
    for (const term of terms) {
      if (term.process !== replica || term.endedMs !== undefined || (job ?? term.job) !== term.job) continue;
      Object.assign(term, { endedMs, end: how });
    }
  };
  for (const { event, atMs, replica, job = '', token = 0, reason } of record) {
    if (event === 'gained') terms.push({ job, process: replica, fencingToken: token, gainedMs: atMs });
    if (event === 'released') end(replica, atMs, 'released', job);
    if (event === 'lost') end(replica, atMs, reason === 'expired' ? 'expired' : 'preempted', job);
    if (event === 'exited') end(replica, atMs, 'process-ended');
  }
  return terms;
}
