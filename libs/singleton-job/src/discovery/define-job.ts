import { type JobMetadata } from '../decorators/index.js';
import {
  argumentOf,
  DEFAULTS,
  defaultMisfireGraceMs,
  describeValue,
  formatDuration,
  isArgument,
  isRecord,
  misplacedIn,
  NAME_RULE,
  ofSchedule,
  OPTION_FIXES,
  OptionReader,
  optionsOf,
  overridesOf,
  type ResolvedJobOverrides,
  type ResolvedOptions,
  resolveJobOptions,
} from '../options/index.js';
import { type AnySchedule, cron, fixedRate, interval, InvalidScheduleError } from '../schedule/index.js';
import { hasLastingName, type JobCandidate } from './job-candidate.js';
import { type JobDefinition } from './job-definition.js';

/** Checks a job and applies its overrides. Undefined: there were mistakes, which are noted with their location. */
export function defineJob(
  candidate: JobCandidate,
  options: ResolvedOptions,
  problems: string[],
): JobDefinition | undefined {
  const { location, name, mistake } = candidate;
  const [metadata] = candidate.metadata;
  if (mistake !== undefined || metadata === undefined) {
    problems.push(`${location}: ${mistake ?? 'has no decorator'}`);
    return undefined;
  }
  const before = problems.length;
  const { kind } = metadata;
  const reader = readerOf(location, metadata, problems);
  reader.refuseUnknown(optionsOf(kind), OPTION_FIXES);
  checkWaitForCompletion(reader);
  checkName(candidate, reader);
  const declared = resolveJobOptions(reader);

  const override: Partial<ResolvedJobOverrides> = name === undefined ? {} : overridesOf(name, options);
  problems.push(...misplaced(override, kind, name ?? location));
  const written = readWritten(location, metadata, problems);
  const build = (changed: Partial<ResolvedJobOverrides>): AnySchedule => {
    switch (kind) {
      case 'fixed-rate':
        return grid(changed.periodMs ?? Number(written), changed.offsetMs ?? declared.offsetMs);
      case 'interval':
        return interval(changed.delayMs ?? Number(written));
      case 'cron': {
        const timeZone = changed.timeZone ?? declared.timeZone ?? options.timeZone;
        return cron(changed.cron ?? String(written), { timeZone, jobName: name ?? location });
      }
    }
  };
  const schedule = written === undefined ? undefined : attempt(() => build({}), `${location}: `, problems);
  const changes = written === undefined ? [] : ofSchedule(override.given ?? [], kind);
  const variables = changes.flatMap((option) => override.variables?.[option] ?? []);
  const place = variables.length > 0 ? variables.join(', ') : `jobs.${name ?? location}`;
  const changed = changes.length > 0 ? attempt(() => build(override), `${place} (${location}): `, problems) : schedule;
  if (name === undefined || changed === undefined || problems.length > before) return undefined;

  const lockExpiryMs = override.lockExpiryMs ?? declared.lockExpiryMs ?? options.lockExpiryMs;
  const warnAfterMs = override.warnAfterMs ?? declared.warnAfterMs ?? options.warnAfterMs;
  return Object.freeze({
    name,
    location,
    schedule: changed,
    enabled: override.enabled ?? declared.enabled ?? true,
    lockExpiryMs,
    timeoutMs: override.timeoutMs ?? declared.timeoutMs,
    warnAfterMs: warnAfterMs === false ? undefined : warnAfterMs,
    overlap: override.overlap ?? declared.overlap ?? DEFAULTS.overlap,
    initialDelayMs: override.initialDelayMs ?? declared.initialDelayMs ?? DEFAULTS.initialDelayMs,
    misfireGraceMs:
      override.misfireGraceMs ??
      declared.misfireGraceMs ??
      options.misfireGraceMs ??
      defaultMisfireGraceMs(options, lockExpiryMs),
    invoke: candidate.invoke,
  });
}

/** Notes why a job has no name. */
export function checkName(
  { name, location, className }: Pick<JobCandidate, 'name' | 'location' | 'className'>,
  reader: OptionReader,
): void {
  if (name !== undefined) return;
  const fix = "name the job, as in { name: 'price-tick' }";
  if (className === undefined || reader.get('name') !== undefined) {
    reader.refuse('name', NAME_RULE, fix);
  } else if (hasLastingName(className)) {
    reader.note('name', `must be given, got undefined while '${location}' cannot be a name: ${fix}`);
  } else {
    const what =
      className === '' ? 'the class has no name' : `the class name '${className}' looks like that of a minifier`;
    const why = `${what}, and the name of the job must be the same on all replicas`;
    reader.note('name', `must be given, got undefined: ${why}: ${fix}`);
  }
}

/** Reads the options of a decorator. */
function readerOf(location: string, { decorator, options, surplus }: JobMetadata, problems: string[]): OptionReader {
  if (surplus !== undefined) {
    const fix = `write the name among the options, as in ${decorator}('1s', { name: 'heartbeat', timeout: '5s' })`;
    problems.push(`${location}: ${decorator} must have two arguments at most, got ${surplus}: ${fix}`);
  }
  if (options !== undefined && !isRecord(options)) {
    const fix = "write them as { name: 'price-tick' }";
    problems.push(`${location}: ${decorator} options must be an object, got ${describeValue(options)}: ${fix}`);
  }
  return new OptionReader(isRecord(options) ? options : {}, `${location}: ${decorator} `, problems);
}

function checkWaitForCompletion(reader: OptionReader): void {
  const value = reader.get('waitForCompletion');
  if (value === undefined || value === true) return;
  const fix = "runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight";
  reader.refuse('waitForCompletion', 'true', fix);
}

const PHRASES = { 'fixed-rate': 'a fixed-rate job', interval: 'an interval job', cron: 'a cron job' } as const;

/** A sentence about each option of an override that its kind of job does not have. */
function misplaced(override: Partial<ResolvedJobOverrides>, kind: AnySchedule['kind'], name: string): string[] {
  return misplacedIn(override.given ?? [], kind).map((option) => {
    const fix = isArgument(option) ? `its schedule is set by ${argumentOf(kind)}` : OPTION_FIXES[option];
    const variable = override.variables?.[option];
    const place = variable === undefined ? `jobs.${name}.` : `${variable}: `;
    return `${place}${option} is no option of ${PHRASES[kind]}: ${fix ?? 'leave it out'}`;
  });
}

/** The first argument of the decorator: milliseconds, or an expression. */
function readWritten(location: string, metadata: JobMetadata, problems: string[]): number | string | undefined {
  const { decorator, kind, schedule } = metadata;
  if (kind === 'fixed-rate' || kind === 'interval') {
    const key = argumentOf(kind);
    const reader = new OptionReader({ [key]: schedule }, `${location}: ${decorator} `, problems);
    if (schedule === undefined) reader.refuse(key, "a duration such as 500 (milliseconds), '500ms' or '3s'", 'give it');
    return reader.duration(key);
  }
  if (typeof schedule === 'string') return schedule;
  const fix =
    schedule instanceof Date
      ? 'a schedule repeats; for one instant use a queue with delayed jobs'
      : typeof schedule === 'number'
        ? 'for a number of milliseconds use @FixedRate or @Interval'
        : "use five or six fields, as in '0 3 * * *'";
  problems.push(
    `${location}: ${decorator} expression must be a cron expression, got ${describeValue(schedule)}: ${fix}`,
  );
  return undefined;
}

/** @throws InvalidScheduleError unless the offset lies within the period. */
function grid(periodMs: number, offsetMs = 0): AnySchedule {
  if (offsetMs < periodMs) return fixedRate(periodMs, { offsetMs });
  const fix = 'take what remains after division by the period';
  const [period, offset] = [formatDuration(periodMs), formatDuration(offsetMs)];
  throw new InvalidScheduleError(`offset must be less than the period (${period}), got ${offset}: ${fix}`);
}

/** The schedule. Undefined: it has a mistake, which is noted. */
function attempt(build: () => AnySchedule, prefix: string, problems: string[]): AnySchedule | undefined {
  try {
    return build();
  } catch (error: unknown) {
    if (!(error instanceof InvalidScheduleError)) throw error;
    problems.push(`${prefix}${error.message}`);
    return undefined;
  }
}
