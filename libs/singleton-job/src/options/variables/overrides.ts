import { isObject } from '../../base/text/describe-value.js';
import { type ParsedJobOptions, type JobOptionName, OPTION_FIXES, OVERRIDES } from '../table/job-option-table.js';
import { Place, readOptions } from '../table/option-table.js';
import { type FromVariables, jobInVariable, optionInVariable } from './variables.js';

/** The overrides of jobs, checked. */
export interface Overrides {
  /** By the name of the job. */
  readonly jobs: Readonly<Record<string, ParsedJobOptions>>;
  /** Those of variables, by the name of the job as variables write it: see {@link jobInVariable}. */
  readonly jobVariables: Readonly<Record<string, ParsedJobOptions>>;
  /** What the names of these variables begin with: `SINGLETON_JOB_JOBS__`. */
  readonly jobPrefix: string;
}

/** Reads the entries of `jobs`, and what variables say of jobs. */
export function readOverrides(
  jobs: Readonly<Record<string, unknown>>,
  variables: FromVariables | undefined,
  problems: string[],
): Overrides {
  // no prototype, because a job may be called 'constructor'
  const byName = Object.create(null) as Record<string, ParsedJobOptions>;
  const byVariable = Object.create(null) as Record<string, ParsedJobOptions>;
  for (const [name, raw] of Object.entries(jobs)) {
    const place = new Place(`jobs.${name}`, problems);
    if (isObject(raw)) byName[name] = readOptions(OVERRIDES, raw, (key) => place.in(key), OPTION_FIXES);
    else if (raw !== undefined) place.refuse(raw, 'an object of options', "write it as { period: '1s' }");
  }
  const jobPrefix = `${variables?.prefix ?? ''}JOBS__`;
  for (const [variableName, raw] of Object.entries(variables?.jobs ?? {})) {
    const placeOf = (key: string) => new Place(key, problems, variableOf(jobPrefix, variableName, key));
    byVariable[variableName] = readOptions(OVERRIDES, raw, placeOf);
  }
  return { jobs: Object.freeze(byName), jobVariables: Object.freeze(byVariable), jobPrefix };
}

/** The overrides of a job: from `jobs` and from variables, which win. `placeOf` names one of them in messages. */
export function overridesOf(name: string, { jobs, jobVariables, jobPrefix }: Overrides) {
  const variableName = jobInVariable(name);
  const ofVariable = jobVariables[variableName] ?? {};
  const placeOf = (option: JobOptionName): string =>
    option in ofVariable ? `${option} (${variableOf(jobPrefix, variableName, option)})` : `jobs.${name}.${option}`;
  return { given: { ...jobs[name], ...ofVariable } as ParsedJobOptions, placeOf };
}

function variableOf(jobPrefix: string, variableName: string, option: string): string {
  return `${jobPrefix}${variableName}__${optionInVariable(option)}`;
}
