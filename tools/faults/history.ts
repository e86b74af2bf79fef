import { CRON_JOBS, GRID_PERIOD_MS } from '../../test/faults/replica/order.js';
import { cron, type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import {
  type History,
  type WitnessedDrop,
  type WitnessedFault,
  type WitnessedReport,
  type WitnessedTerm,
} from '../../test/support/checker.js';
import { dueOccurrences } from '../../test/support/due-occurrences.js';
import { confirmationsIn, Leases } from './leases.js';
import { runsIn } from './runs.js';
import { type Testimony } from './testimony.js';
import { type Exchange } from './wires.js';

type Open<T> = { -readonly [K in keyof T]: T[K] };

const SCHEDULES: ReadonlyMap<string, CronSchedule> = new Map(
  Object.entries(CRON_JOBS).map(([jobName, expression]) => [jobName, cron(expression, { timeZone: 'UTC', jobName })]),
);

const GRIDS: ReadonlyMap<string, number> = new Map(['grid', 'obedient'].map((job) => [job, GRID_PERIOD_MS]));

/** What the witness wrote down, and what the wires showed, as the checker wants to read it. Times are the witness's own. */
export function historyOf(record: readonly Testimony[], exchanges: readonly Exchange[]): History {
  const runs = runsIn(record, new Leases(confirmationsIn(exchanges)));
  const reports = record.flatMap(reportIn);
  const due = new Map([...SCHEDULES].map(([job, schedule]) => [job, dueOccurrences(schedule, job, { runs, reports })]));
  const [drops, faults] = [record.flatMap(dropIn), record.flatMap(clockStepIn)];
  return { runs, reports, drops, terms: termsIn(record), faults, due, grids: GRIDS };
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

/** The only fault that a rule on these histories asks for: who leads with a clock that is stepped may leave out slots. */
function clockStepIn({ event, atMs, replica }: Testimony): WitnessedFault[] {
  return event === 'stepped' ? [{ kind: 'clock-step', process: replica, fromMs: atMs, untilMs: atMs }] : [];
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
