import { InvalidJobsError } from '../base/errors/mistakes.errors.js';
import { describeValue, isObject } from '../base/text/describe-value.js';
import { type Duration } from '../base/text/duration.js';
import { type CronOptions, type FixedRateOptions, type WhileLeaderOptions } from '../options/job.options.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { JOB_OPTIONS } from '../options/table/job-option-table.js';
import { isName } from '../options/table/names.js';
import { Place } from '../options/table/option-table.js';
import { defineJob, generatorMistake, type JobDescription } from './define-job.js';
import { type JobRun } from './job-run.js';
import { type Job } from './job.js';

/**
 * A job that is not a decorated method. For jobs that are known only at run time, and for modules that are loaded
 * lazily.
 *
 * @example
 * ```ts
 * jobs.register({ name: 'sync-acme', schedule: { period: '10m' }, run: ({ signal }) => sync('acme', { signal }) });
 * ```
 */
export interface JobRegistration
  extends Omit<FixedRateOptions, 'name' | 'offset'>, Omit<CronOptions, 'name' | 'timeZone'> {
  /** Its name in keys, logs and overrides. The same on all replicas. */
  readonly name: string;
  /** When it is due: a period, a delay after each run, a cron expression, for as long as a replica leads, or once. */
  readonly schedule:
    | {
        /** A fixed rate: the time from tick to tick. */
        readonly period: Duration;
        /** Moves the grid of ticks. Without it, ticks are multiples of the period since the epoch. @default 0 */
        readonly offset?: Duration | undefined;
      }
    | {
        /** An interval: the time from the end of a run to the start of the next run. */
        readonly delay: Duration;
      }
    | {
        /** A cron expression of 5 fields, or of 6 with seconds in front. */
        readonly cron: string;
        /** IANA name of the time zone of the expression. @default the `timeZone` of the module */
        readonly timeZone?: string | undefined;
      }
    | ({
        /** No schedule: one call lasts as long as a replica leads. */
        readonly whileLeader: true;
      } & Pick<WhileLeaderOptions, 'restartDelay'>)
    | {
        /** One run of all replicas, ever or per `version`. */
        readonly once: true;
      };
  /** Runs it. */
  readonly run: (run: JobRun) => unknown;
}

const KINDS = {
  period: 'fixed-rate',
  delay: 'interval',
  cron: 'cron',
  whileLeader: 'while-leader',
  once: 'once',
} as const;
type Argument = keyof typeof KINDS;
const ARGUMENTS = Object.keys(KINDS) as Argument[];
const SCHEDULE_FIX =
  "write it as { period: '500ms' }, { delay: '1s' }, { cron: '0 3 * * *', timeZone: 'UTC' }, { whileLeader: true } or { once: true }";

/**
 * Checks a registered job and applies its overrides. `place`: of the call, for messages. `problems`: those that were
 * found before.
 *
 * @throws InvalidJobsError with every mistake
 */
export function defineRegisteredJob(
  registration: unknown,
  options: ResolvedOptions,
  problems: string[] = [],
  place?: string,
): Job {
  const description = readRegistration(registration, problems, place);
  const job = description && defineJob(description, options, problems);
  if (job === undefined || problems.length > 0) {
    const title = place === undefined ? undefined : `${place} cannot use this schedule`;
    throw new InvalidJobsError(problems, { title });
  }
  return job;
}

/** Undefined: the kind of its schedule is not known. */
function readRegistration(registration: unknown, problems: string[], place?: string): JobDescription | undefined {
  const { schedule, run, ...options } = isObject(registration) ? registration : {};
  const name = isName(options['name']) ? options['name'] : undefined;
  const location = place ?? `register(${name === undefined ? '' : `'${name}'`})`;
  if (typeof run !== 'function') {
    problems.push(`${location}: run must be a function, got ${describeValue(run)}: it is called with each JobRun`);
  }
  const mistake = generatorMistake(run);
  if (mistake !== undefined) problems.push(`${location}: run ${mistake}`);
  const argument = readArgument(location, schedule, problems);
  if (argument === undefined) {
    // the other options depend on the kind
    JOB_OPTIONS.name.type.read(options['name'], new Place(`${location}: its name`, problems));
    return undefined;
  }
  const { [argument]: first, ...others } = schedule as Record<string, unknown>;
  const invoke = run as JobRegistration['run'];
  return {
    location,
    name,
    kind: KINDS[argument],
    decorator: 'its',
    schedule: first,
    options: { ...others, ...options },
    invoke,
  };
}

function readArgument(location: string, schedule: unknown, problems: string[]): Argument | undefined {
  // also one with a mistake; whileLeader and once have no value but true
  const isFlag = (key: Argument) => key === 'whileLeader' || key === 'once';
  const isGiven = (value: unknown, key: Argument) => (isFlag(key) ? value === true : value !== undefined);
  const keys = isObject(schedule) ? ARGUMENTS.filter((key) => isGiven(schedule[key], key)) : [];
  const [argument] = keys;
  if (argument !== undefined && keys.length === 1) return argument;
  const got = keys.length > 1 ? `${keys.join(' and ')} together` : describeValue(schedule);
  problems.push(
    `${location}: schedule must have one of period, delay, cron, whileLeader and once, got ${got}: ${SCHEDULE_FIX}`,
  );
  return undefined;
}
