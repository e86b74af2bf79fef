import { type ResolvedOptions } from '../options/resolve-options.js';
import { didYouMean, suggest } from '../options/suggest.js';
import { jobInVariable } from '../options/variables.js';
import { givenName, type JobCandidate } from './job-candidate.js';
import { type Job } from './job.js';

/** Notes jobs that share a name: their locks would be the same. */
export function checkDuplicates(
  candidates: readonly JobCandidate[],
  registered: readonly Job[],
  problems: string[],
): void {
  for (const name of new Set(candidates.flatMap((candidate) => candidate.name ?? []))) {
    const found = candidates.filter((candidate) => candidate.name === name);
    const other = registered.find((job) => job.name === name);
    if (other !== undefined) {
      const locations = [other, ...found].map(({ location }) => location).join(' and ');
      problems.push(`job '${name}' must be declared once, got ${locations}: give each a name of its own`);
    } else if (found.length > 1) {
      const locations = found
        .map(({ location, module }) => `${location} in ${module?.name ?? 'an unknown module'}`)
        .join(' and ');
      problems.push(`job '${name}' must be declared once, got ${locations}: ${duplicateFix(found)}`);
    }
  }
}

function duplicateFix(found: readonly JobCandidate[]): string {
  const [first, ...others] = found;
  const className = first?.className ?? '';
  if (others.every(({ location }) => location === first?.location)) {
    if (others.every(({ module }) => module === first?.module)) {
      return `make one of the tokens an alias, as in { provide: …, useExisting: ${className} }, or name the classes apart`;
    }
    return `provide ${className} in one module, which exports it, or name the classes apart`;
  }
  if (others.every(({ metadata }) => metadata === first?.metadata)) {
    return 'leave the name out where they inherit it from, and each is called Class.method';
  }
  return 'give each a name of its own';
}

/** A sentence about each override whose job does not exist. Left out: an override that may be meant for a job with a wrong name. */
export function unknownOverrides(
  candidates: readonly JobCandidate[],
  registered: readonly Job[],
  options: ResolvedOptions,
): string[] {
  const names = namesOf(candidates, registered);
  const mistaken = candidates.flatMap((candidate) => (candidate.name === undefined ? namesTried(candidate) : []));
  const byName = Object.keys(options.jobs).map((name) => ({ name, place: `jobs.${name}` }));
  return [
    ...unknownIn(byName, names, mistaken),
    ...unknownIn(jobsOfVariables(options), names.map(jobInVariable), mistaken.map(jobInVariable)),
  ];
}

/** Variables that stand for several of these jobs. */
export function ambiguousVariables(names: readonly string[], options: ResolvedOptions): string[] {
  return jobsOfVariables(options).flatMap(({ name: form, place }) => {
    const meant = names.filter((name) => jobInVariable(name) === form);
    if (meant.length < 2) return [];
    const fix = 'rename one of them, or set its options in code';
    return `${place} must be one job of this application, got ${meant.join(' and ')}: ${fix}`;
  });
}

/** The names of all jobs, each once. */
export function namesOf(candidates: readonly JobCandidate[], registered: readonly Job[]): readonly string[] {
  return [...new Set([...registered, ...candidates].flatMap(({ name }) => name ?? []))];
}

interface GivenName {
  readonly name: string;
  /** Its name in messages. */
  readonly place: string;
}

function unknownIn(given: readonly GivenName[], names: readonly string[], mistaken: readonly string[]): string[] {
  const isMistaken = (name: string): boolean => mistaken.includes(name) || suggest(name, mistaken) !== undefined;
  const fallback = names.length === 0 ? 'there are no jobs' : `the jobs are ${names.join(', ')}`;
  return given
    .filter(({ name }) => !names.includes(name) && !isMistaken(name))
    .map(({ name, place }) => `${place} is no job of this application: ${didYouMean(name, names, fallback)}`);
}

/** The jobs that variables name, in the form of variables: `DAILY_REPORT`. */
function jobsOfVariables({ jobVariables }: ResolvedOptions): readonly GivenName[] {
  return Object.entries(jobVariables).map(([name, given]) => {
    const variables = new Set(Object.values(given).map(({ origin }) => origin));
    return { name, place: `${[...variables].join(', ')}: ${name}` };
  });
}

/** The names that a job with a mistake may have been meant to have. */
function namesTried({ location, metadata }: JobCandidate): string[] {
  return [location, ...metadata.map(givenName).filter((name) => typeof name === 'string')];
}
