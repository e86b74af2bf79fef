import { type ScheduleKind } from '../base/events/run-info.js';
import { type CronOptions, type FixedRateOptions, type JobOptions, type JobOverrides } from './job.options.js';
import { isName, NAME_RULE } from './names.js';
import { type Given, type OptionRow } from './option-reader.js';
import { boolean, duration, durationOrFalse, expiry, matching, timeZone } from './readers.js';
import { type KindOf } from './variables.js';

type JobOptionName = keyof JobOptions | keyof FixedRateOptions | keyof CronOptions | keyof JobOverrides;

/** An option of a job. A variable can set every option that an override can. */
interface JobOptionRow extends OptionRow {
  /** The kinds of jobs that take it. */
  readonly kinds: readonly ScheduleKind[];
  /** True: it is the first argument of the decorator. Only an override takes it among the options. */
  readonly isArgument?: true;
  /** True: it is part of the schedule. */
  readonly isOfSchedule?: true;
  /** What to do where it is not possible. */
  readonly fix?: string;
}

/** Ties each option to its interface in `job.options.ts`. */
type JobOptionTable = {
  readonly [K in JobOptionName]: JobOptionRow & {
    readonly variable: K extends keyof JobOverrides ? KindOf<NonNullable<JobOverrides[K]>> : 'none';
  };
};

const TICKING: readonly ScheduleKind[] = ['fixed-rate', 'interval', 'cron'];
const ALL: readonly ScheduleKind[] = [...TICKING, 'while-leader'];
const WHILE_LEADER_FIX = 'a run of @WhileLeader lasts as long as its replica leads; leave it out';

const isOverlap = (value: unknown): value is 'skip' | 'cancel-other' => value === 'skip' || value === 'cancel-other';
const isText = (value: unknown): value is string => typeof value === 'string';

function cronFix(value: unknown): string {
  if (value instanceof Date) return 'a schedule repeats; for one instant use a queue with delayed jobs';
  if (typeof value === 'number') return 'for a number of milliseconds use @FixedRate or @Interval';
  return "use five or six fields, as in '0 3 * * *'";
}

/** Every option of a job. Options without a default have that of the module, or none. */
export const JOB_OPTIONS = {
  name: {
    kinds: ALL,
    variable: 'none',
    read: matching(isName, NAME_RULE, "name the job, as in { name: 'price-tick' }"),
    fix: 'set the name in the decorator; an override is found by that name',
  },
  enabled: { kinds: ALL, variable: 'boolean', read: boolean, default: true },
  lockExpiry: { kinds: ALL, variable: 'duration', read: expiry },
  timeout: { kinds: TICKING, variable: 'duration', read: duration(), fix: WHILE_LEADER_FIX },
  warnAfter: { kinds: TICKING, variable: 'duration', read: durationOrFalse, fix: WHILE_LEADER_FIX },
  initialDelay: { kinds: ALL, variable: 'duration', read: duration({ leastMs: 0 }), default: 0 },
  overlap: {
    kinds: ['fixed-rate', 'cron'],
    variable: 'text',
    read: matching(
      isOverlap,
      "'skip' or 'cancel-other'",
      "use 'skip' to drop a tick that is due during a run, 'cancel-other' to abort that run",
    ),
    default: 'skip',
    fix: 'an interval is counted from the end of the run, so its ticks never overlap; leave it out',
  },
  offset: {
    kinds: ['fixed-rate'],
    variable: 'duration',
    read: duration({ leastMs: 0 }),
    isOfSchedule: true,
    fix: 'only a fixed-rate job has a grid to move; leave it out',
  },
  jitter: {
    kinds: ['fixed-rate', 'cron'],
    variable: 'duration',
    read: duration({ leastMs: 0 }),
    isOfSchedule: true,
    fix: 'an interval has no planned times to delay; leave it out',
  },
  timeZone: {
    kinds: ['cron'],
    variable: 'text',
    read: timeZone,
    isOfSchedule: true,
    fix: 'only cron jobs read local time; leave it out',
  },
  misfireGrace: {
    kinds: ['cron'],
    variable: 'duration',
    read: duration({ leastMs: 0 }),
    fix: 'only cron jobs have occurrences that can be late; leave it out',
  },
  restartDelay: {
    kinds: ['while-leader'],
    variable: 'duration',
    read: duration(),
    default: 1_000,
    isOfSchedule: true,
    fix: 'only a run of @WhileLeader is started again; leave it out',
  },
  period: {
    kinds: ['fixed-rate'],
    variable: 'duration',
    read: duration(),
    isArgument: true,
    isOfSchedule: true,
    fix: "it is the first argument, as in @FixedRate('500ms')",
  },
  delay: {
    kinds: ['interval'],
    variable: 'duration',
    read: duration(),
    isArgument: true,
    isOfSchedule: true,
    fix: "it is the first argument, as in @Interval('1s')",
  },
  cron: {
    kinds: ['cron'],
    variable: 'text',
    read: matching(isText, 'a cron expression', cronFix),
    isArgument: true,
    isOfSchedule: true,
    fix: "it is the first argument, as in @Cron('0 3 * * *')",
  },
} satisfies JobOptionTable;

type JobOptionRows = typeof JOB_OPTIONS;

/** The options of a job that a decorator, an override or a variable sets. */
export type GivenJobOptions = Given<JobOptionRows>;

const ROWS = Object.entries(JOB_OPTIONS) as (readonly [keyof JobOptionRows, JobOptionRow])[];

function rowsWith(has: (row: JobOptionRow) => boolean): Partial<JobOptionRows> {
  return Object.fromEntries(ROWS.filter(([, row]) => has(row)));
}

/** The options that an override can set. */
export const OVERRIDES = rowsWith(({ variable }) => variable !== 'none');

/** What to do instead of setting an option that is not possible here, such as one of `@nestjs/schedule`. */
export const OPTION_FIXES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ROWS.map(([name, { fix }]) => [name, fix ?? 'leave it out'])),
  disabled: 'write enabled with the opposite value, as in enabled: false',
  waitForCompletion:
    "leave it out, because runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight",
  utcOffset: "name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time",
  threshold: 'misfireGrace says how late an occurrence may start; leave it out or use that',
  unrefTimeout: 'no timer keeps the process alive after app.close(); leave it out',
};

const ofDecorator = (kind: ScheduleKind): Partial<JobOptionRows> =>
  rowsWith(({ kinds, isArgument }) => kinds.includes(kind) && isArgument !== true);

/** The options of the decorator of each kind of job. */
export const DECORATOR_OPTIONS: Readonly<Record<ScheduleKind, Partial<JobOptionRows>>> = {
  'fixed-rate': ofDecorator('fixed-rate'),
  interval: ofDecorator('interval'),
  cron: ofDecorator('cron'),
  'while-leader': ofDecorator('while-leader'),
};

/** The name of the first argument of the decorator, in overrides. Undefined: it says nothing of a schedule. */
export function argumentOf(kind: ScheduleKind): 'period' | 'delay' | 'cron' | undefined {
  return ({ 'fixed-rate': 'period', interval: 'delay', cron: 'cron', 'while-leader': undefined } as const)[kind];
}

/** The options of an override, each with its row. */
export function rowsOf(given: GivenJobOptions): readonly (readonly [option: keyof JobOptionRows, row: JobOptionRow])[] {
  return ROWS.filter(([name]) => given[name] !== undefined);
}
