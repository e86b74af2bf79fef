import { describeValue, isRecord } from './describe-value.js';
import { OPTION_FIXES, OVERRIDABLE } from './job-option-table.js';
import { OptionReader } from './option-reader.js';
import { resolveJobOptions } from './resolve-job-options.js';
import { type ResolvedJobOverrides, type ResolvedOptions } from './resolved-options.js';
import { jobInVariable, variablesOf } from './variables.js';

const CRON_RULE = {
  expected: 'a cron expression',
  fix: "use five or six fields, as in '0 3 * * *'",
};

type Overrides = Pick<ResolvedOptions, 'jobs' | 'jobVariables'>;

/** Reads `jobs`. */
export function resolveOverrides(reader: OptionReader, problems: string[]): Overrides {
  // no prototype, because a job may be called 'constructor'
  const byName = Object.create(null) as Record<string, ResolvedJobOverrides>;
  const byVariable = Object.create(null) as Record<string, ResolvedJobOverrides>;
  const jobs = reader.get('jobs');
  if (jobs !== undefined && !isRecord(jobs)) {
    reader.refuse('jobs', 'an object of overrides by job name', "write it as { 'price-tick': { period: '1s' } }");
  }
  for (const [form, variables] of Object.entries(reader.variables?.ofJobs ?? {})) {
    const override = isRecord(jobs) ? jobs[form] : undefined;
    // code may have replaced `jobs` after a spread
    if (isRecord(override) && variablesOf(override) !== undefined) continue;
    const fix = 'Write jobs: { ...fromEnvironment.jobs, … }, where fromEnvironment is what singletonJobConfig returns';
    problems.push(`${variables.join(', ')}: jobs in code replaces what variables set. ${fix}`);
  }
  for (const [name, raw] of isRecord(jobs) ? Object.entries(jobs) : []) {
    if (raw === undefined) continue;
    if (isRecord(raw)) {
      const overrides = variablesOf(raw) === undefined ? byName : byVariable;
      overrides[name] = resolveOverride(new OptionReader(raw, `jobs.${name}.`, problems));
    } else {
      reader.note(
        `jobs.${name}`,
        `must be an object of options, got ${describeValue(raw)}: write it as { period: '1s' }`,
      );
    }
  }
  return { jobs: Object.freeze(byName), jobVariables: Object.freeze(byVariable) };
}

/** The overrides of a job: from `jobs` and from variables, which win. */
export function overridesOf(name: string, { jobs, jobVariables }: Overrides): Partial<ResolvedJobOverrides> {
  const byName = jobs[name];
  const byVariable = jobVariables[jobInVariable(name)];
  if (byName === undefined || byVariable === undefined) return byVariable ?? byName ?? {};
  const set = Object.fromEntries(Object.entries(byVariable).filter(([, value]) => value !== undefined));
  return { ...byName, ...set, given: [...new Set([...byName.given, ...byVariable.given])] };
}

function resolveOverride(reader: OptionReader): ResolvedJobOverrides {
  reader.refuseUnknown(OVERRIDABLE, OPTION_FIXES);
  const given = OVERRIDABLE.filter((name) => reader.get(name) !== undefined);
  return Object.freeze({
    ...resolveJobOptions(reader),
    given: Object.freeze(given),
    variables: Object.freeze(Object.fromEntries(given.map((name) => [name, reader.variableOf(name)]))),
    periodMs: reader.duration('period'),
    delayMs: reader.duration('delay'),
    cron: reader.checked('cron', (value) => typeof value === 'string', CRON_RULE),
  });
}
