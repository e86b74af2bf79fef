import { didYouMean, isRecord, type ResolvedOptions, suggest } from '../options/index.js';
import { type DefinedJob } from './define-job.js';
import { type FoundJob, locationOf } from './found-job.js';
import { type JobDefinition } from './job-definition.js';

/** Overrides of jobs that there are not, each with a suggestion. One that may be meant for a job whose name is a mistake is none. */
export function unknownOverrides(
  jobs: readonly DefinedJob[],
  registered: readonly JobDefinition[],
  options: ResolvedOptions,
): string[] {
  const names = [...registered, ...jobs].flatMap(({ name }) => name ?? []);
  const mistaken = jobs.flatMap(({ name, found }) => (name === undefined ? namesTried(found) : []));
  const isMistaken = (name: string): boolean => mistaken.includes(name) || suggest(name, mistaken) !== undefined;
  const fallback = names.length === 0 ? 'there are no jobs' : `the jobs are ${names.join(', ')}`;
  return Object.keys(options.jobs)
    .filter((name) => !names.includes(name) && !isMistaken(name))
    .map((name) => `jobs.${name} is no job of this application: ${didYouMean(name, names, fallback)}`);
}

/** What a job that cannot be used was perhaps meant to be called. */
function namesTried(found: FoundJob): string[] {
  const given = found.member.metadata.map(({ options }) => (isRecord(options) ? options['name'] : undefined));
  return [locationOf(found), ...given.filter((name) => typeof name === 'string')];
}
