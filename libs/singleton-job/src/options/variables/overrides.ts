import { isObject } from '../../base/text/describe-value.js';
import { type ParsedJobOptions, type JobOptionName, OPTION_FIXES, OVERRIDES } from '../table/job-option-table.js';
import { Place, readOptions } from '../table/option-table.js';
import { type FromVariables, jobInVariable, optionInVariable } from './variables.js';

/** What an entry of `jobs`, or the variables of a job, set. */
export interface JobOverride {
  /** The job as this place writes it: `daily-report`, or `DAILY_REPORT`. */
  readonly job: string;
  /** How this place writes the name of a job. */
  readonly formOf: (name: string) => string;
  /** `jobs.daily-report`, or `SINGLETON_JOB_JOBS__DAILY_REPORT`. */
  readonly place: string;
  readonly placeOf: (option: string) => Place;
  readonly options: ParsedJobOptions;
}

/** Reads the entries of `jobs`, and what variables say of jobs, which comes last and wins. */
export function readOverrides(
  jobs: Readonly<Record<string, unknown>>,
  problems: string[],
  { prefix = '', jobs: jobsInVariables = {} }: Partial<FromVariables> = {},
): readonly JobOverride[] {
  const overrides: JobOverride[] = [];
  const read = (raw: Readonly<Record<string, unknown>>, override: Omit<JobOverride, 'options'>): void => {
    const options = readOptions(OVERRIDES, raw, override.placeOf, OPTION_FIXES);
    overrides.push(Object.freeze({ ...override, options }));
  };
  for (const [job, raw] of Object.entries(jobs)) {
    const place = new Place(`jobs.${job}`, problems);
    const placeOf = (option: string): Place => place.in(option);
    if (isObject(raw)) read(raw, { job, formOf: (name) => name, place: place.path, placeOf });
    else if (raw !== undefined) place.refuse(raw, 'an object of options', "write it as { period: '1s' }");
  }
  for (const [job, raw] of Object.entries(jobsInVariables)) {
    const place = `${prefix}JOBS__${job}`;
    const placeOf = (option: string) => new Place(option, problems, `${place}__${optionInVariable(option)}`);
    read(raw, { job, formOf: jobInVariable, place, placeOf });
  }
  return Object.freeze(overrides);
}

/** The options that override those of a job, and where each of them is set, for messages. */
export function overridesOf(name: string, overrides: readonly JobOverride[]) {
  const own = overrides.filter(({ job, formOf }) => formOf(name) === job);
  const places = new Map<JobOptionName, string>();
  for (const { options, placeOf } of own) {
    for (const option of Object.keys(options) as JobOptionName[]) places.set(option, placeOf(option).shown);
  }
  return { options: Object.assign({}, ...own.map(({ options }) => options)) as ParsedJobOptions, places };
}
