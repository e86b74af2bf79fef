import { type JobMetadata, type JobRun } from '../decorators/index.js';
import {
  DEFAULTS,
  defaultMisfireGraceMs,
  describeValue,
  isName,
  isRecord,
  NAME_RULE,
  OPTION_CURES,
  OptionReader,
  optionsOf,
  type ResolvedJobOverrides,
  type ResolvedOptions,
  resolveJobOptions,
} from '../options/index.js';
import { type AnySchedule } from '../schedule/index.js';
import { buildSchedule } from './build-schedule.js';
import { checkMember } from './check-member.js';
import { type FoundJob, placeOf } from './found-job.js';
import { type JobDefinition } from './job-definition.js';
import { misplacedOverrides } from './misplaced-overrides.js';

/** What became of a found job. `name` is known also of jobs with mistakes, unless the mistake is in it. */
export interface DefinedJob {
  readonly found: FoundJob;
  readonly name: string | undefined;
  readonly definition: JobDefinition | undefined;
}

/** Checks a decorated method and applies its overrides. Mistakes are noted with their place; then there is no definition. */
export function defineJob(found: FoundJob, options: ResolvedOptions, problems: string[]): DefinedJob {
  const metadata = checkMember(found, problems);
  if (metadata === undefined) return { found, name: undefined, definition: undefined };
  const place = placeOf(found);
  checkArguments(place, metadata, problems);
  const declared: DeclaredJob = {
    place,
    metadata,
    readName: (reader) => readName(reader, found),
    invoke: (run) => invoke(found, run),
  };
  return { found, ...define(declared, options, problems) };
}

/** A job as somebody declared it, not yet checked. */
export interface DeclaredJob {
  /** Where it was declared, for messages. */
  readonly place: string;
  readonly metadata: JobMetadata & { readonly kind: AnySchedule['kind'] };
  /** Its name; undefined if that is a mistake, which is then noted. */
  readonly readName: (reader: OptionReader) => string | undefined;
  readonly invoke: (run: JobRun) => unknown;
}

/** Checks what was declared and applies its overrides. */
export function define(
  { place, metadata, readName, invoke }: DeclaredJob,
  options: ResolvedOptions,
  problems: string[],
): Omit<DefinedJob, 'found'> {
  const before = problems.length;
  const { kind } = metadata;
  const reader = readerOf(place, metadata, problems);
  reader.refuseUnknown(optionsOf(kind), OPTION_CURES);
  checkWaitForCompletion(reader);
  const name = readName(reader);
  const said = resolveJobOptions(reader);

  const override: Partial<ResolvedJobOverrides> = (name === undefined ? undefined : options.jobs[name]) ?? {};
  problems.push(...misplacedOverrides(kind, name ?? place, override));
  const schedule = buildSchedule({ place, name: name ?? place, kind, metadata, said, override, options }, problems);
  if (name === undefined || schedule === undefined || problems.length > before) {
    return { name, definition: undefined };
  }

  const lockExpiryMs = override.lockExpiryMs ?? said.lockExpiryMs ?? options.lockExpiryMs;
  const warnAfterMs = override.warnAfterMs ?? said.warnAfterMs ?? options.warnAfterMs;
  const definition: JobDefinition = Object.freeze({
    name,
    place,
    schedule,
    enabled: override.enabled ?? said.enabled ?? true,
    lockExpiryMs,
    timeoutMs: override.timeoutMs ?? said.timeoutMs,
    warnAfterMs: warnAfterMs === false ? undefined : warnAfterMs,
    overlap: override.overlap ?? said.overlap ?? DEFAULTS.overlap,
    initialDelayMs: override.initialDelayMs ?? said.initialDelayMs ?? DEFAULTS.initialDelayMs,
    misfireGraceMs:
      override.misfireGraceMs ??
      said.misfireGraceMs ??
      options.misfireGraceMs ??
      defaultMisfireGraceMs(options, lockExpiryMs),
    invoke,
  });
  return { name, definition };
}

function checkArguments(place: string, { decorator, surplus }: JobMetadata, problems: string[]): void {
  if (surplus === undefined) return;
  const cure = `write the name among the options, as in ${decorator}('1s', { name: 'heartbeat', timeout: '5s' })`;
  problems.push(`${place}: ${decorator} must have two arguments at most, got ${surplus}: ${cure}`);
}

function readerOf(place: string, { decorator, options }: JobMetadata, problems: string[]): OptionReader {
  const isGiven = options !== undefined;
  if (isGiven && !isRecord(options)) {
    const cure = "write them as { name: 'price-tick' }";
    problems.push(`${place}: ${decorator} options must be an object, got ${describeValue(options)}: ${cure}`);
  }
  return new OptionReader(isRecord(options) ? options : {}, `${place}: ${decorator} `, problems);
}

function checkWaitForCompletion(reader: OptionReader): void {
  const value = reader.get('waitForCompletion');
  if (value === undefined || value === true) return;
  const cure = "a job never overlaps with itself; overlap: 'cancel-other' lets a new tick end the run before";
  reader.refuse('waitForCompletion', 'true', cure);
}

function readName(reader: OptionReader, found: FoundJob): string | undefined {
  const place = placeOf(found);
  const cure = "name the job, as in { name: 'price-tick' }";
  if (reader.get('name') !== undefined) return reader.checked('name', isName, { expected: NAME_RULE, cure });
  if (found.className.length <= 2) {
    const what = found.className === '' ? 'has no name' : `is called '${found.className}', as by a minifier`;
    const why = `the class ${what}, and names are protocol between replicas`;
    reader.note('name', `must be given, got undefined while ${why}: ${cure}`);
    return undefined;
  }
  const isUsable: boolean = isName(place);
  if (isUsable) return place;
  reader.note('name', `must be given, got undefined while '${place}' cannot be a name: ${cure}`);
  return undefined;
}

// looked up at each run, so that spies and wrappers count
function invoke({ host, member }: FoundJob, run: JobRun): unknown {
  const method: unknown = Reflect.get(host as object, member.name);
  return Reflect.apply(method as (run: JobRun) => unknown, host, [run]);
}
