import { type JobMetadata } from './job.decorators.js';
import { describeValue, isRecord } from '../base/text/describe-value.js';
import { formatDuration } from '../base/text/duration.js';
import {
  argumentOf,
  decoratorOptions,
  type GivenJobOptions,
  JOB_OPTIONS,
  type JobOptionName,
  type JobOptionRow,
  OPTION_FIXES,
} from '../options/job-option-table.js';
import { Place, readOptions, withDefaults } from '../options/option-table.js';
import { overridesOf } from '../options/overrides.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { jittered } from '../schedule/jitter.js';
import { whileLeader } from '../schedule/while-leader.js';
import { InvalidScheduleError } from '../schedule/invalid-schedule.error.js';
import { type AnySchedule, type FixedRateSchedule } from '../schedule/schedule.js';
import { type FoundMethod } from './found-method.js';
import { type Job } from './job.js';

/** Checks a job with its overrides. Undefined: there were mistakes, which are noted with their places. */
export function defineJob(method: FoundMethod, options: ResolvedOptions, problems: string[]): Job | undefined {
  const { location, name, mistake, invoke } = method;
  const [metadata] = method.metadata;
  if (mistake !== undefined || metadata === undefined) {
    problems.push(`${location}: ${mistake ?? 'has no decorator'}`);
    return undefined;
  }
  const before = problems.length;
  const { kind } = metadata;
  const declared = readDeclared(method, metadata, problems);
  const { given: overrides, placeOf } = overridesOf(name ?? '', options);
  const overridden = Object.keys(overrides) as JobOptionName[];
  problems.push(...misplaced(overridden, kind).map(([option, mistake]) => `${placeOf(option)} ${mistake}`));

  const own = withDefaults(JOB_OPTIONS, declared);
  const settings = withDefaults(JOB_OPTIONS, { ...declared, ...overrides });
  const build = (from: typeof settings, place: string): AnySchedule | undefined => {
    try {
      return scheduleOf(kind, from, options.timeZone, name ?? location);
    } catch (error: unknown) {
      if (!(error instanceof InvalidScheduleError)) throw error;
      problems.push(`${place}: ${error.message}`);
      return undefined;
    }
  };
  // a wrong schedule is a mistake also if an override replaces it
  const ownSchedule = build(own, location);
  const places = overridden.filter((option) => OF_SCHEDULE.includes(option)).map(placeOf);
  const schedule = places.length === 0 ? ownSchedule : build(settings, `${places.join(', ')} of ${location}`);
  if (name === undefined || schedule === undefined || problems.length > before) return undefined;

  const { enabled, timeoutMs, overlap, initialDelayMs, lockExpiryMs = options.lockExpiryMs } = settings;
  const warnAfterMs = settings.warnAfterMs ?? options.warnAfterMs;
  return Object.freeze({
    name,
    location,
    schedule,
    enabled,
    lockExpiryMs,
    timeoutMs,
    warnAfterMs: warnAfterMs === false ? undefined : warnAfterMs,
    overlap,
    initialDelayMs,
    misfireGraceMs: settings.misfireGraceMs ?? options.misfireGraceMs ?? defaultMisfireGraceMs(options, lockExpiryMs),
    invoke,
  });
}

/** Reads the arguments of a decorator. */
function readDeclared(method: FoundMethod, metadata: JobMetadata, problems: string[]): GivenJobOptions {
  const { location } = method;
  const { decorator, kind, options, schedule, surplus } = metadata;
  if (surplus !== undefined) {
    const fix = `write the name among the options, as in ${decorator}('1s', { name: 'heartbeat', timeout: '5s' })`;
    problems.push(`${location}: ${decorator} must have two arguments at most, got ${surplus}: ${fix}`);
  }
  if (options !== undefined && !isRecord(options)) {
    const fix = "write them as { name: 'price-tick' }";
    problems.push(`${location}: ${decorator} options must be an object, got ${describeValue(options)}: ${fix}`);
  }
  const raw = isRecord(options) ? options : {};
  const place = (key: string): Place => new Place(`${location}: ${decorator} ${key}`, problems);
  if (raw['name'] === undefined) checkNameless(method, place('name'), kind);
  const given = readOptions(decoratorOptions(kind), raw, place, OPTION_FIXES);
  const argument = argumentOf(kind);
  if (argument === undefined) return given;
  const written = JOB_OPTIONS[argument].type.read(schedule, place(argument === 'cron' ? 'expression' : argument));
  return { ...given, ...(written !== undefined && { [argument]: written }) };
}

/** Notes why a job without a `name` option has no name. */
function checkNameless(method: FoundMethod, at: Place, kind: AnySchedule['kind']): void {
  const { name, location, className, whyNameless } = method;
  if (name !== undefined) return;
  const fix = `name the job, as in ${kind === 'while-leader' ? "@WhileLeader('order-feed')" : "{ name: 'price-tick' }"}`;
  if (className === undefined) {
    JOB_OPTIONS.name.type.read(undefined, at);
  } else if (whyNameless === undefined) {
    at.note(`must be given, got undefined while '${location}' cannot be a name: ${fix}`);
  } else {
    const rule = 'the name of the job must be the same on all replicas';
    at.note(`must be given, got undefined: ${whyNameless}, and ${rule}: ${fix}`);
  }
}

const PHRASES = {
  'fixed-rate': 'a fixed-rate job',
  interval: 'an interval job',
  cron: 'a cron job',
  'while-leader': 'a @WhileLeader job',
} as const;

/** What is wrong with each option of an override that its kind of job does not have. */
function misplaced(overrides: readonly JobOptionName[], kind: AnySchedule['kind']): [JobOptionName, string][] {
  return overrides.flatMap((option) => {
    const { kinds, isArgument }: JobOptionRow = JOB_OPTIONS[option];
    if (kinds.includes(kind)) return [];
    const argument = argumentOf(kind);
    const instead =
      isArgument !== true
        ? OPTION_FIXES[option]
        : argument === undefined
          ? undefined
          : `its schedule is set by ${argument}`;
    return [[option, `is no option of ${PHRASES[kind]}: ${instead ?? 'leave it out'}`]];
  });
}

/** The options that a schedule is made of. */
const OF_SCHEDULE: readonly JobOptionName[] = [
  'period',
  'offset',
  'delay',
  'cron',
  'timeZone',
  'jitter',
  'restartDelay',
];

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
  const shift = { jitterMs, jobName };
  switch (kind) {
    case 'fixed-rate': {
      if (periodMs === undefined) return undefined;
      const grid = gridOf(periodMs, offsetMs);
      return jitterMs === 0 ? grid : jittered(grid, shift);
    }
    case 'interval':
      return delayMs === undefined ? undefined : interval(delayMs);
    case 'cron': {
      if (expression === undefined) return undefined;
      const occurrences = cron(expression, { timeZone: timeZone ?? zoneOfModule });
      return jitterMs === 0 ? occurrences : jittered(occurrences, shift);
    }
    case 'while-leader':
      return restartDelayMs === undefined ? undefined : whileLeader(restartDelayMs);
  }
}

/** @throws InvalidScheduleError */
function gridOf(periodMs: number, offsetMs = 0): FixedRateSchedule {
  const schedule = fixedRate(periodMs, { offsetMs });
  if (offsetMs < periodMs) return schedule;
  const fix = 'take what remains after division by the period';
  const [period, offset] = [formatDuration(periodMs), formatDuration(offsetMs)];
  throw new InvalidScheduleError(`offset must be less than the period (${period}), got ${offset}: ${fix}`);
}

/**
 * The misfire grace of a cron job if neither the job nor the module sets it. It is long enough for a leader to drain, or for the lease
 * of a killed leader to end, and for the next leader to take over, with one `lockExpiry` to spare.
 */
function defaultMisfireGraceMs(options: ResolvedOptions, lockExpiryMs: number): number {
  return options.shutdownTimeoutMs + 2 * lockExpiryMs + options.heartbeatIntervalMs;
}
