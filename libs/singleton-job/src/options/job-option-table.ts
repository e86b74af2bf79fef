import { type ScheduleKind } from '../events/index.js';
import { type CronOptions, type FixedRateOptions, type JobOptions, type JobOverrides } from './job.options.js';
import { type VariableKinds } from './variables.js';

type Kinds = readonly ScheduleKind[];

export type JobOptionName = keyof JobOptions | keyof FixedRateOptions | keyof CronOptions | keyof JobOverrides;

/** Which decorators and overrides take an option of a job, and the fix where it is not possible. */
interface JobOptionRule {
  /** The kinds whose decorators take it. */
  readonly decorators: Kinds;
  /** The kinds whose overrides take it. */
  readonly overrides: Kinds;
  /** True: it is part of the schedule. */
  readonly isOfSchedule?: true;
  readonly fix?: string;
}

const ALL: Kinds = ['fixed-rate', 'interval', 'cron'];
const EVERYWHERE: JobOptionRule = { decorators: ALL, overrides: ALL };
const IN_DECORATORS: JobOptionRule = { decorators: ALL, overrides: [] };

function only(...kinds: Kinds): JobOptionRule {
  return { decorators: kinds, overrides: kinds };
}

/** The option of an override that replaces the first argument of the decorator. */
function argument(kind: ScheduleKind): JobOptionRule {
  return { decorators: [], overrides: [kind], isOfSchedule: true };
}

/** The options of each kind of job. `job.options.ts` has their types, `resolve-job-options.ts` checks them. */
const JOB_OPTIONS: Readonly<Record<JobOptionName, JobOptionRule>> = {
  name: { ...IN_DECORATORS, fix: 'set the name in the decorator; an override is found by that name' },
  enabled: EVERYWHERE,
  disabled: EVERYWHERE,
  lockExpiry: EVERYWHERE,
  timeout: EVERYWHERE,
  warnAfter: EVERYWHERE,
  initialDelay: EVERYWHERE,
  waitForCompletion: {
    ...IN_DECORATORS,
    fix: "it is always true; with overlap: 'cancel-other' a new tick aborts the run in flight",
  },
  overlap: {
    ...only('fixed-rate', 'cron'),
    fix: 'an interval is counted from the end of the run, so its ticks never overlap; leave it out',
  },
  offset: {
    ...only('fixed-rate'),
    isOfSchedule: true,
    fix: 'only a fixed-rate job has a grid to move; leave it out',
  },
  timeZone: { ...only('cron'), isOfSchedule: true, fix: 'only cron jobs read local time; leave it out' },
  misfireGrace: { ...only('cron'), fix: 'only cron jobs have occurrences that can be late; leave it out' },
  period: { ...argument('fixed-rate'), fix: "it is the first argument, as in @FixedRate('500ms')" },
  delay: { ...argument('interval'), fix: "it is the first argument, as in @Interval('1s')" },
  cron: { ...argument('cron'), fix: "it is the first argument, as in @Cron('0 3 * * *')" },
};

const NAMES = Object.keys(JOB_OPTIONS) as JobOptionName[];

/** The options that an override can set, and how a variable sets each. */
export const OVERRIDES: VariableKinds<JobOverrides> = {
  enabled: 'boolean',
  disabled: 'boolean',
  lockExpiry: 'duration',
  timeout: 'duration',
  warnAfter: 'duration',
  initialDelay: 'duration',
  overlap: 'text',
  offset: 'duration',
  timeZone: 'text',
  misfireGrace: 'duration',
  period: 'duration',
  delay: 'duration',
  cron: 'text',
};

export const OVERRIDABLE = Object.keys(OVERRIDES) as JobOptionName[];

/** What to do instead of setting an option that is not possible here, such as one of `@nestjs/schedule`. */
export const OPTION_FIXES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMES.map((name) => [name, JOB_OPTIONS[name].fix ?? 'leave it out'])),
  utcOffset: "name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time",
  threshold: 'misfireGrace says how late an occurrence may start; leave it out or use that',
  unrefTimeout: 'no timer keeps the process alive after app.close(); leave it out',
};

/** The options of the decorator of a kind of job. */
export function optionsOf(kind: ScheduleKind): readonly JobOptionName[] {
  return NAMES.filter((name) => JOB_OPTIONS[name].decorators.includes(kind));
}

/** Whether the option replaces the first argument of a decorator. */
export function isArgument(name: JobOptionName): boolean {
  return JOB_OPTIONS[name].decorators.length === 0;
}

/** The name of the first argument of the decorator, in overrides and in messages. */
export function argumentOf(kind: ScheduleKind): string {
  return NAMES.find((name) => isArgument(name) && JOB_OPTIONS[name].overrides.includes(kind)) ?? 'schedule';
}

/** The options of an override that its kind of job does not have. */
export function misplacedIn(given: readonly JobOptionName[], kind: ScheduleKind): readonly JobOptionName[] {
  return given.filter((name) => !JOB_OPTIONS[name].overrides.includes(kind));
}

/** The options of an override that are part of the schedule of its kind of job. */
export function ofSchedule(given: readonly JobOptionName[], kind: ScheduleKind): readonly JobOptionName[] {
  return given.filter((name) => JOB_OPTIONS[name].isOfSchedule === true && JOB_OPTIONS[name].overrides.includes(kind));
}
