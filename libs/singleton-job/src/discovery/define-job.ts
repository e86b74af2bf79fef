import { type JobMetadata, type JobRun } from '../decorators/index.js';
import {
  DEFAULTS,
  defaultMisfireGraceMs,
  describeValue,
  isName,
  isRecord,
  NAME_RULE,
  OPTION_FIXES,
  OptionReader,
  optionsOf,
  type ResolvedJobOverrides,
  type ResolvedOptions,
  resolveJobOptions,
} from '../options/index.js';
import { type AnySchedule } from '../schedule/index.js';
import { buildSchedule } from './build-schedule.js';
import { checkMember } from './check-member.js';
import { type FoundJob, locationOf } from './found-job.js';
import { type JobDefinition } from './job-definition.js';
import { misplacedOverrides } from './misplaced-overrides.js';

/** What became of a found job. `name` is known also of jobs with mistakes, unless the mistake is in it. */
export interface DefinedJob {
  readonly found: FoundJob;
  readonly name: string | undefined;
  readonly definition: JobDefinition | undefined;
}

/** Checks a decorated method and applies its overrides. Mistakes are noted with their location; then there is no definition. */
export function defineJob(found: FoundJob, options: ResolvedOptions, problems: string[]): DefinedJob {
  const metadata = checkMember(found, problems);
  if (metadata === undefined) return { found, name: undefined, definition: undefined };
  const location = locationOf(found);
  checkArguments(location, metadata, problems);
  const declared: DeclaredJob = {
    location,
    metadata,
    readName: (reader) => readName(reader, found),
    invoke: (run) => invoke(found, run),
  };
  return { found, ...define(declared, options, problems) };
}

/** A job as somebody declared it, not yet checked. */
export interface DeclaredJob {
  /** Where it was declared, for messages. */
  readonly location: string;
  readonly metadata: JobMetadata & { readonly kind: AnySchedule['kind'] };
  /** Its name; undefined if that is a mistake, which is then noted. */
  readonly readName: (reader: OptionReader) => string | undefined;
  readonly invoke: (run: JobRun) => unknown;
}

/** Checks what was declared and applies its overrides. */
export function define(
  { location, metadata, readName, invoke }: DeclaredJob,
  options: ResolvedOptions,
  problems: string[],
): Omit<DefinedJob, 'found'> {
  const before = problems.length;
  const { kind } = metadata;
  const reader = readerOf(location, metadata, problems);
  reader.refuseUnknown(optionsOf(kind), OPTION_FIXES);
  checkWaitForCompletion(reader);
  const name = readName(reader);
  const declared = resolveJobOptions(reader);

  const override: Partial<ResolvedJobOverrides> = (name === undefined ? undefined : options.jobs[name]) ?? {};
  problems.push(...misplacedOverrides(kind, name ?? location, override));
  const schedule = buildSchedule(
    { location, name: name ?? location, kind, metadata, declared, override, options },
    problems,
  );
  if (name === undefined || schedule === undefined || problems.length > before) {
    return { name, definition: undefined };
  }

  const lockExpiryMs = override.lockExpiryMs ?? declared.lockExpiryMs ?? options.lockExpiryMs;
  const warnAfterMs = override.warnAfterMs ?? declared.warnAfterMs ?? options.warnAfterMs;
  const definition: JobDefinition = Object.freeze({
    name,
    location,
    schedule,
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
    invoke,
  });
  return { name, definition };
}

function checkArguments(location: string, { decorator, surplus }: JobMetadata, problems: string[]): void {
  if (surplus === undefined) return;
  const fix = `write the name among the options, as in ${decorator}('1s', { name: 'heartbeat', timeout: '5s' })`;
  problems.push(`${location}: ${decorator} must have two arguments at most, got ${surplus}: ${fix}`);
}

function readerOf(location: string, { decorator, options }: JobMetadata, problems: string[]): OptionReader {
  const isGiven = options !== undefined;
  if (isGiven && !isRecord(options)) {
    const fix = "write them as { name: 'price-tick' }";
    problems.push(`${location}: ${decorator} options must be an object, got ${describeValue(options)}: ${fix}`);
  }
  return new OptionReader(isRecord(options) ? options : {}, `${location}: ${decorator} `, problems);
}

function checkWaitForCompletion(reader: OptionReader): void {
  const value = reader.get('waitForCompletion');
  if (value === undefined || value === true) return;
  const fix = "a job never overlaps with itself; overlap: 'cancel-other' lets a new tick end the run before";
  reader.refuse('waitForCompletion', 'true', fix);
}

function readName(reader: OptionReader, found: FoundJob): string | undefined {
  const location = locationOf(found);
  const fix = "name the job, as in { name: 'price-tick' }";
  if (reader.get('name') !== undefined) return reader.checked('name', isName, { expected: NAME_RULE, fix });
  if (found.className.length <= 2) {
    const what = found.className === '' ? 'has no name' : `is called '${found.className}', as by a minifier`;
    const why = `the class ${what}, and names are protocol between replicas`;
    reader.note('name', `must be given, got undefined while ${why}: ${fix}`);
    return undefined;
  }
  const isUsable: boolean = isName(location);
  if (isUsable) return location;
  reader.note('name', `must be given, got undefined while '${location}' cannot be a name: ${fix}`);
  return undefined;
}

// looked up at each run, so that spies and wrappers count
function invoke({ host, member }: FoundJob, run: JobRun): unknown {
  const method: unknown = Reflect.get(host as object, member.name);
  return Reflect.apply(method as (run: JobRun) => unknown, host, [run]);
}
