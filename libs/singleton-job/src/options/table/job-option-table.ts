import { noTextFix } from '../../advice/crons.js';
import { JOB_WORDS, type OptionWords } from '../../advice/option-words.js';
import { type ScheduleKind } from '../../base/events/run-info.js';
import { type CronOptions, type FixedRateOptions, type JobOverrides } from '../job.options.js';
import { expiry } from './module-option-table.js';
import { isName, NAME_RULE } from './names.js';
import { type Parsed, type OptionRow } from './option-table.js';
import { boolean, duration, durationOrFalse, fromCode, matching, text, timeZone } from './option-types.js';

/** An option of a job. */
export interface JobOptionRow extends OptionRow {
  /** The kinds of jobs that take it. */
  readonly kinds: readonly ScheduleKind[];
  /** True: it is the first argument of the decorator. Only an override takes it among the options. */
  readonly isArgument?: true;
}

/** Ties each option to its interface in `job.options.ts`. */
type JobOptionTable = Readonly<Record<keyof FixedRateOptions | keyof CronOptions | keyof JobOverrides, JobOptionRow>>;

const TICKING: readonly ScheduleKind[] = ['fixed-rate', 'interval', 'cron'];
const ENDING: readonly ScheduleKind[] = [...TICKING, 'once'];
const ALL: readonly ScheduleKind[] = [...ENDING, 'while-leader'];
const NAME_FIX = "name the job, as in { name: 'price-tick' }";

const overlap = text(
  (value): value is 'skip' | 'cancel-other' => value === 'skip' || value === 'cancel-other',
  "'skip' or 'cancel-other'",
  "use 'skip' to drop a tick that is due during a run, 'cancel-other' to abort that run",
);
const now = text((value): value is 'now' => value === 'now', "'now'", "write 'now', or leave it out");
type Only = NonNullable<CronOptions['only']>;
const isFunction = (value: unknown): value is Only => typeof value === 'function';
const isVersion = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Every option of a job. Options without a default have that of the module, or none. The page about options shows them
 * with the docstrings of the interface.
 */
export const JOB_OPTIONS = {
  name: { kinds: ALL, type: fromCode('text', matching(isName, NAME_RULE, NAME_FIX)) },
  enabled: { kinds: ALL, type: boolean, default: true },
  lockExpiry: { kinds: ALL, type: expiry },
  timeout: { kinds: ENDING, type: duration() },
  warnAfter: { kinds: ENDING, type: durationOrFalse },
  initialDelay: { kinds: ALL, type: duration({ minMs: 0 }), default: 0 },
  overlap: { kinds: ['fixed-rate', 'cron'], type: overlap, default: 'skip' },
  offset: { kinds: ['fixed-rate'], type: duration({ minMs: 0 }) },
  jitter: { kinds: ['fixed-rate', 'cron'], type: duration({ minMs: 0 }) },
  timeZone: { kinds: ['cron'], type: timeZone },
  misfireGrace: { kinds: ['cron'], type: duration({ minMs: 0 }) },
  only: {
    kinds: ['cron'],
    type: fromCode('function', matching(isFunction, 'a function', 'write only: (date) => date.getUTCDate() > 7')),
  },
  firstRun: { kinds: ['interval', 'cron'], type: now },
  version: {
    kinds: ['interval', 'cron', 'once'],
    type: text(isVersion, 'a text', "write a number as a text, as in version: '2'"),
  },
  restartDelay: { kinds: ['while-leader'], type: duration(), default: 1_000 },
  period: { kinds: ['fixed-rate'], type: duration(), isArgument: true },
  delay: { kinds: ['interval'], type: duration(), isArgument: true },
  cron: { kinds: ['cron'], type: text(isText, 'a cron expression', noTextFix), isArgument: true },
} satisfies JobOptionTable;

type JobOptionRows = typeof JOB_OPTIONS;
export type JobOptionName = keyof JobOptionRows;

/** The options of a job that a decorator, an override or a variable sets. */
export type ParsedJobOptions = Parsed<JobOptionRows>;

function rowsWith(has: (row: JobOptionRow) => boolean): JobOptionRows {
  return Object.fromEntries(Object.entries(JOB_OPTIONS).filter(([, row]) => has(row))) as JobOptionRows;
}

/** The options that an override can set, and a variable. */
export const OVERRIDES = rowsWith(({ type }) => type.variable !== 'none');

/** The options of the decorator of each kind of job. */
export const DECORATOR_OPTIONS = Object.fromEntries(
  ALL.map((kind) => [kind, rowsWith(({ kinds, isArgument }) => kinds.includes(kind) && isArgument !== true)]),
) as Readonly<Record<ScheduleKind, JobOptionRows>>;

function fixFor([option, { kinds, isArgument }]: [string, JobOptionRow]): [string, string] {
  const only = `only ${kinds.join(' and ')} jobs have it; leave it out`;
  return [option, isArgument === true ? 'it is the first argument of the decorator' : only];
}

/** What to do instead of setting an option that is not possible here. */
export const OPTION_FIXES: OptionWords = {
  ...JOB_WORDS,
  ...Object.fromEntries(Object.entries(JOB_OPTIONS).map(fixFor)),
  name: 'set the name in the decorator; an override is found by that name',
};

/** The name of the first argument of the decorator, in overrides. Undefined: it says nothing of a schedule. */
export function argumentOf(kind: ScheduleKind) {
  const rows: JobOptionTable = JOB_OPTIONS;
  // those with `isArgument`
  return (['period', 'delay', 'cron'] as const).find((option) => rows[option].kinds.includes(kind));
}
