import { type JobRun } from '../decorators/index.js';
import { InvalidJobsError } from '../errors/index.js';
import {
  type CronOptions,
  describeValue,
  type Duration,
  type FixedRateOptions,
  isName,
  isRecord,
  type JobOptions,
  NAME_RULE,
  OptionReader,
  type ResolvedOptions,
} from '../options/index.js';
import { define } from './define-job.js';
import { type JobDefinition } from './job-definition.js';

/** When a registered job is due: one of a period, a delay after each run, and a cron expression. */
export type RegisteredSchedule =
  | { readonly period: Duration; readonly offset?: Duration }
  | { readonly delay: Duration }
  | { readonly cron: string; readonly timeZone?: string };

/** A job that is no decorated method: for what is known only at run time, and for modules that are loaded lazily. */
export interface JobRegistration
  extends Omit<JobOptions, 'name'>, Pick<FixedRateOptions, 'overlap'>, Pick<CronOptions, 'misfireGrace'> {
  /** Its name in keys, logs and overrides: protocol between replicas. */
  readonly name: string;
  readonly schedule: RegisteredSchedule;
  /** Runs it. */
  readonly run: (run: JobRun) => unknown;
}

const KINDS = { period: 'fixed-rate', delay: 'interval', cron: 'cron' } as const;
const ARGUMENTS = ['period', 'delay', 'cron'] as const;
type Argument = (typeof ARGUMENTS)[number];
/** What may stand beside each of them. */
const BESIDE: Readonly<Record<Argument, readonly string[]>> = { period: ['offset'], delay: [], cron: ['timeZone'] };
const NAME_FIX = "name the job, as in { name: 'price-tick' }";
const SCHEDULE_FIX = "write it as { period: '500ms' }, { delay: '1s' } or { cron: '0 3 * * *', timeZone: 'UTC' }";

/**
 * Checks a registered job and applies its overrides.
 *
 * @throws InvalidJobsError with every mistake
 */
export function defineRegisteredJob(registration: unknown, options: ResolvedOptions): JobDefinition {
  if (!isRecord(registration)) {
    const fix = "pass { name: 'price-tick', schedule: { period: '500ms' }, run }";
    throw new InvalidJobsError([`register() must be given an object, got ${describeValue(registration)}: ${fix}`]);
  }
  const { schedule, run, ...rest } = registration;
  const location = `register(${isName(rest['name']) ? `'${rest['name']}'` : ''})`;
  const problems: string[] = [];
  if (typeof run !== 'function') {
    problems.push(`${location}: run must be a function, got ${describeValue(run)}: it is called with each JobRun`);
  }
  const readName = (reader: OptionReader): string | undefined => {
    if (rest['name'] === undefined) reader.refuse('name', NAME_RULE, NAME_FIX);
    return reader.checked('name', isName, { expected: NAME_RULE, fix: NAME_FIX });
  };
  const argument = readSchedule(location, schedule, problems);
  if (argument === undefined) {
    // of which kind it is, and so which options it may have, nobody knows
    readName(new OptionReader(rest, `${location}: its `, problems));
    throw new InvalidJobsError(problems);
  }

  const { first, beside } = partsOf(schedule as Record<string, unknown>, argument, { location, problems });
  const metadata = { kind: KINDS[argument], decorator: 'its', schedule: first, options: { ...beside, ...rest } };
  const { definition } = define(
    {
      location,
      metadata,
      readName,
      invoke: (jobRun) => (run as JobRegistration['run'])(jobRun),
    },
    options,
    problems,
  );
  if (definition === undefined || problems.length > 0) throw new InvalidJobsError(problems);
  return definition;
}

function readSchedule(location: string, schedule: unknown, problems: string[]): Argument | undefined {
  const given = isRecord(schedule) ? ARGUMENTS.filter((key) => schedule[key] !== undefined) : [];
  const [argument] = given;
  if (argument !== undefined && given.length === 1) return argument;
  const got = given.length > 1 ? `${given.join(' and ')} together` : describeValue(schedule);
  problems.push(`${location}: schedule must have one of period, delay and cron, got ${got}: ${SCHEDULE_FIX}`);
  return undefined;
}

/** What the decorator of such a job has as its first argument, and what it has among its options. */
function partsOf(
  schedule: Record<string, unknown>,
  argument: Argument,
  { location, problems }: { readonly location: string; readonly problems: string[] },
): { first: unknown; beside: Record<string, unknown> } {
  const { [argument]: first, ...others } = schedule;
  const isKnown = ([key]: readonly [string, unknown]): boolean => BESIDE[argument].includes(key);
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  for (const [key] of given.filter((entry) => !isKnown(entry))) {
    problems.push(`${location}: schedule.${key} is no part of a schedule: write it beside schedule, or leave it out`);
  }
  return { first, beside: Object.fromEntries(given.filter(isKnown)) };
}
