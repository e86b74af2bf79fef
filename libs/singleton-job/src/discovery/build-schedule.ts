import { type JobMetadata } from '../decorators/index.js';
import {
  argumentOf,
  changesSchedule,
  describeValue,
  formatDuration,
  OptionReader,
  type ResolvedJobOptions,
  type ResolvedJobOverrides,
  type ResolvedOptions,
} from '../options/index.js';
import { type AnySchedule, cron, fixedRate, interval, InvalidScheduleError } from '../schedule/index.js';

/** Where the parts of a schedule come from: the decorator, what overrides it, and the module. */
export interface ScheduleParts {
  readonly location: string;
  readonly name: string;
  readonly kind: AnySchedule['kind'];
  readonly metadata: JobMetadata;
  readonly declared: ResolvedJobOptions;
  readonly override: Partial<ResolvedJobOverrides>;
  readonly options: ResolvedOptions;
}

/** The schedule of a job; undefined if it is a mistake, which is then noted. The decorator's own is checked in either case. */
export function buildSchedule(parts: ScheduleParts, problems: string[]): AnySchedule | undefined {
  const { location, name, kind, override } = parts;
  const written = readWritten(parts, problems);
  if (written === undefined) return undefined;
  const own = attempt(`${location}: `, problems, () => build(parts, written, {}));
  if (!changesSchedule(override.given ?? [], kind)) return own;
  return attempt(`jobs.${name} (${location}): `, problems, () => build(parts, written, override));
}

/** The first argument of the decorator: milliseconds, or an expression. */
function readWritten({ location, kind, metadata }: ScheduleParts, problems: string[]): number | string | undefined {
  const { decorator, schedule } = metadata;
  if (kind !== 'cron') {
    const key = argumentOf(kind);
    const reader = new OptionReader({ [key]: schedule }, `${location}: ${decorator} `, problems);
    if (schedule === undefined) reader.refuse(key, "a duration such as 500 (milliseconds), '500ms' or '3s'", 'give it');
    return reader.duration(key);
  }
  if (typeof schedule === 'string') return schedule;
  const fix =
    schedule instanceof Date
      ? 'a job for one instant is not what a lease is for; hand it to a queue that stores delayed jobs'
      : typeof schedule === 'number'
        ? 'for a number of milliseconds use @FixedRate or @Interval'
        : "use five or six fields, as in '0 3 * * *'";
  problems.push(
    `${location}: ${decorator} expression must be a cron expression, got ${describeValue(schedule)}: ${fix}`,
  );
  return undefined;
}

function build(parts: ScheduleParts, written: number | string, override: Partial<ResolvedJobOverrides>): AnySchedule {
  const { name, kind, declared, options } = parts;
  switch (kind) {
    case 'fixed-rate':
      return grid(override.periodMs ?? Number(written), override.offsetMs ?? declared.offsetMs);
    case 'interval':
      return interval(override.delayMs ?? Number(written));
    case 'cron':
      return cron(override.cron ?? String(written), {
        timeZone: override.timeZone ?? declared.timeZone ?? options.timeZone,
        jobName: name,
      });
  }
}

/** @throws InvalidScheduleError unless the offset lies within the period. */
function grid(periodMs: number, offsetMs = 0): AnySchedule {
  if (offsetMs < periodMs) return fixedRate(periodMs, { offsetMs });
  const fix = 'take what remains after division by the period';
  const [period, offset] = [formatDuration(periodMs), formatDuration(offsetMs)];
  throw new InvalidScheduleError(`offset must be less than the period (${period}), got ${offset}: ${fix}`);
}

function attempt(prefix: string, problems: string[], make: () => AnySchedule): AnySchedule | undefined {
  try {
    return make();
  } catch (error: unknown) {
    if (!(error instanceof InvalidScheduleError)) throw error;
    problems.push(`${prefix}${error.message}`);
    return undefined;
  }
}
