import { types } from 'node:util';
import { describeValue, isObject } from '../base/text/describe-value.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import {
  argumentOf,
  DECORATOR_OPTIONS,
  type ParsedJobOptions,
  JOB_OPTIONS,
  type JobOptionName,
  type JobOptionRow,
  OPTION_FIXES,
} from '../options/table/job-option-table.js';
import { Place, readOptions, withDefaults } from '../options/table/option-table.js';
import { overridesOf } from '../options/variables/overrides.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { jittered } from '../schedule/jitter.js';
import {
  type AnySchedule,
  type CronSchedule,
  type FixedRateSchedule,
  InvalidScheduleError,
} from '../schedule/schedule.js';
import { ONCE, whileLeader } from '../schedule/without-ticks.js';
import { type JobRun } from './job-run.js';
import { type JobMetadata } from './job.decorators.js';
import { type Job } from './job.js';

/** A job as a decorator or a registration declares it: its arguments are not checked yet. */
export interface JobDescription extends JobMetadata {
  /** `Class.method`, or `register('name')`, for messages. */
  readonly location: string;
  /** The name in its options, otherwise its location. Undefined: a mistake, so that it has no name. */
  readonly name: string | undefined;
  /** Why a decorated job without a `name` option has none, for the message. */
  readonly whyNameless?: string;
  readonly invoke: (run: JobRun) => unknown;
}

/** Checks a job with its overrides. Undefined: there were mistakes, which are noted with their places. */
export function defineJob(description: JobDescription, options: ResolvedOptions, problems: string[]): Job | undefined {
  const { location, name, kind, invoke } = description;
  const before = problems.length;
  const declared = readDeclared(description, problems);
  const { options: overrides, places } = overridesOf(name ?? '', options.jobs);
  for (const [option, place] of places) {
    const mistake = misplaced(option, kind);
    if (mistake !== undefined) problems.push(`${place} ${mistake}`);
  }

  const settingsInCode = withDefaults(JOB_OPTIONS, declared);
  const settings = places.size === 0 ? settingsInCode : withDefaults(JOB_OPTIONS, { ...declared, ...overrides });
  const build = (from: typeof settings, place: string): AnySchedule | undefined => {
    try {
      return scheduleOf(kind, from, options.timeZone, name ?? location);
    } catch (error: unknown) {
      if (!(error instanceof InvalidScheduleError)) throw error;
      problems.push(`${place}: ${error.message}`);
      return undefined;
    }
  };
  if (settings.version !== undefined && settings.firstRun === undefined && kind !== 'once')
    problems.push(`${location}: version must stand beside firstRun, got it alone: add firstRun: 'now'`);
  // a wrong schedule is a mistake also if an override replaces it
  const scheduleInCode = build(settingsInCode, location);
  const placesOfSchedule = [...places].flatMap(([option, place]) => (OF_SCHEDULE.has(option) ? place : []));
  const schedule =
    placesOfSchedule.length === 0 ? scheduleInCode : build(settings, `${placesOfSchedule.join(', ')} of ${location}`);
  if (name === undefined || schedule === undefined || problems.length > before) return undefined;

  const { enabled, timeoutMs, overlap, initialDelayMs, firstRun, version, only } = settings;
  const { lockExpiryMs = options.lockExpiryMs } = settings;
  const warnAfterMs = (settings.warnAfterMs ?? options.warnAfterMs) || undefined;
  const misfireGraceMs =
    settings.misfireGraceMs ?? options.misfireGraceMs ?? defaultMisfireGraceMs(options, lockExpiryMs);
  const times = { lockExpiryMs, timeoutMs, warnAfterMs, initialDelayMs, misfireGraceMs };
  return Object.freeze({ name, location, schedule, enabled, overlap, firstRun, version, only, ...times, invoke });
}

/** What is wrong with a function that does nothing when it is called. Undefined: it is no generator function. */
export function generatorMistake(method: unknown): string | undefined {
  if (!types.isGeneratorFunction(method)) return undefined;
  return 'must be a function that returns a promise, got a generator function, whose body would never run: drop the *';
}

/** Reads the arguments of a decorator. */
function readDeclared(description: JobDescription, problems: string[]): ParsedJobOptions {
  const { location, decorator, kind, options, schedule } = description;
  if (options !== undefined && !isObject(options)) {
    const fix = "write them as { name: 'price-tick' }";
    problems.push(`${location}: ${decorator} options must be an object, got ${describeValue(options)}: ${fix}`);
  }
  const raw = isObject(options) ? options : {};
  const placeOf = (key: string): Place => new Place(`${location}: ${decorator} ${key}`, problems);
  if (raw['name'] === undefined) checkNameless(description, placeOf('name'));
  const parsed = readOptions(DECORATOR_OPTIONS[kind], raw, placeOf, OPTION_FIXES);
  const argument = argumentOf(kind);
  if (argument === undefined) return parsed;
  const written = JOB_OPTIONS[argument].type.read(schedule, placeOf(argument === 'cron' ? 'expression' : argument));
  return { ...parsed, ...(written !== undefined && { [argument]: written }) };
}

/** How the decorators whose first argument is a name are written. */
const NAMED: Partial<Record<AnySchedule['kind'], string>> = {
  'while-leader': "@WhileLeader('order-feed')",
  once: "@Once('warm-up')",
};

/** Notes why a job without a `name` option has no name. */
function checkNameless({ name, kind, whyNameless }: JobDescription, place: Place): void {
  if (name !== undefined) return;
  const fix = `name the job, as in ${NAMED[kind] ?? "{ name: 'price-tick' }"}`;
  if (whyNameless === undefined) JOB_OPTIONS.name.type.read(undefined, place);
  else place.note(`must be given, got undefined${whyNameless}: ${fix}`);
}

/** What is wrong with an option of an override. Undefined: this kind of job has it. */
function misplaced(option: JobOptionName, kind: AnySchedule['kind']): string | undefined {
  const { kinds, isArgument }: JobOptionRow = JOB_OPTIONS[option];
  if (kinds.includes(kind)) return undefined;
  const argument = argumentOf(kind);
  const ofSchedule = argument && `its schedule is set by ${argument}`;
  const instead = isArgument === true ? ofSchedule : OPTION_FIXES[option];
  return `is no option of a job of kind '${kind}': ${instead ?? 'leave it out'}`;
}

/** The options that a schedule is made of. */
const OF_SCHEDULE = new Set(['period', 'offset', 'delay', 'cron', 'timeZone', 'jitter', 'restartDelay']);

type Settings = Partial<ReturnType<typeof withDefaults<typeof JOB_OPTIONS>>>;

/**
 * The schedule. Undefined: there is none without the first argument, whose mistake is noted.
 *
 * @throws InvalidScheduleError
 */
function scheduleOf(
  kind: AnySchedule['kind'],
  { periodMs, offsetMs, delayMs, cron: expression, timeZone, jitterMs = 0, restartDelayMs }: Settings,
  zoneOfModule: string,
  jobName: string,
): AnySchedule | undefined {
  const delayed = <S extends FixedRateSchedule | CronSchedule>(base: S): S =>
    jitterMs === 0 ? base : jittered(base, jitterMs, jobName);
  switch (kind) {
    case 'fixed-rate':
      return periodMs === undefined ? undefined : delayed(fixedRate(periodMs, offsetMs));
    case 'interval':
      return delayMs === undefined ? undefined : interval(delayMs);
    case 'cron':
      return expression === undefined ? undefined : delayed(cron(expression, timeZone ?? zoneOfModule));
    case 'once':
      return ONCE;
    case 'while-leader':
      return restartDelayMs === undefined ? undefined : whileLeader(restartDelayMs);
  }
}

/**
 * The misfire grace of a cron job if neither the job nor the module sets it. It is long enough for a leader to drain,
 * or for the lease of a killed leader to end, and for the next leader to take over, with one `lockExpiry` to spare.
 */
function defaultMisfireGraceMs(options: ResolvedOptions, lockExpiryMs: number): number {
  return options.shutdownTimeoutMs + 2 * lockExpiryMs + options.heartbeatIntervalMs;
}
