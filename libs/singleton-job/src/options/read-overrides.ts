import { isRecord } from '../base/text/describe-value.js';
import { type GivenJobOptions, type JOB_OPTIONS, OPTION_FIXES, OVERRIDES } from './job-option-table.js';
import { OptionReader } from './option-reader.js';
import { jobInVariable, optionInVariable, type OptionVariables } from './variables.js';

/** The overrides of jobs, checked. */
export interface Overrides {
  /** By the name of the job. */
  readonly jobs: Readonly<Record<string, GivenJobOptions>>;
  /** Those of variables, by the name of the job as variables write it: see `jobInVariable`. */
  readonly jobVariables: Readonly<Record<string, GivenJobOptions>>;
}

/** Reads the entries of `jobs`. Some of them may come from variables. */
export function readOverrides(
  jobs: Readonly<Record<string, unknown>>,
  variables: OptionVariables | undefined,
  problems: string[],
): Overrides {
  // no prototype, because a job may be called 'constructor'
  const byName = Object.create(null) as Record<string, GivenJobOptions>;
  const byVariable = Object.create(null) as Record<string, GivenJobOptions>;
  const ofVariables = new Map(Object.entries(variables?.jobs ?? {}));
  for (const [form, given] of ofVariables) checkKept(given, jobs[form], problems);
  for (const [name, raw] of Object.entries(jobs)) {
    if (raw === undefined) continue;
    const origin = `jobs.${name}`;
    if (isRecord(raw)) {
      const given = ofVariables.get(name);
      const source = { raw, origin, prefix: `${origin}.`, variables: given };
      (given === undefined ? byName : byVariable)[name] = readJobOptions(new OptionReader(source, problems), OVERRIDES);
    } else {
      new OptionReader({ raw: jobs, prefix: 'jobs.' }, problems)
        .at(name)
        .refuse(raw, 'an object of options', "write it as { period: '1s' }");
    }
  }
  return { jobs: Object.freeze(byName), jobVariables: Object.freeze(byVariable) };
}

/** Code may have replaced `jobs` after a spread. */
function checkKept({ prefix, values, problems: misspelt }: OptionVariables, raw: unknown, problems: string[]): void {
  const set = Object.keys(values).filter((option) => values[option] !== undefined);
  if (isRecord(raw) && set.every((option) => raw[option] === values[option])) return;
  // nothing else reads this section
  problems.push(...misspelt);
  if (set.length === 0) return;
  const names = set.map((option) => `${prefix}${optionInVariable(option)}`).join(', ');
  const fix = 'Write jobs: { ...fromEnvironment.jobs, … }, where fromEnvironment is what singletonJobConfig returns';
  problems.push(`${names}: jobs in code replaces what variables set. ${fix}`);
}

/** Reads options of a job, from a decorator or an override. */
export function readJobOptions(reader: OptionReader, table: Partial<typeof JOB_OPTIONS>): GivenJobOptions {
  return reader.read<typeof JOB_OPTIONS>(table, OPTION_FIXES);
}

/** The overrides of a job: from `jobs` and from variables, which win. */
export function overridesOf(name: string, { jobs, jobVariables }: Overrides): GivenJobOptions {
  return { ...jobs[name], ...jobVariables[jobInVariable(name)] };
}
