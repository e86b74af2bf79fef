import { type ResolvedOptions } from '../options/resolve-options.js';
import { didYouMean } from '../options/suggest.js';
import { jobInVariable } from '../options/variables.js';
import { type FoundMethod } from './found-method.js';
import { type Job } from './job.js';

const ONCE =
  'give each a name of its own, or provide the class once: in one module, with { provide: …, useExisting } for a second token';

/** Notes jobs that share a name: their locks would be the same. */
export function checkDuplicates(methods: readonly FoundMethod[], registered: readonly Job[], problems: string[]): void {
  const locations = new Map<string, readonly string[]>();
  const note = (name: string, location: string): void => {
    locations.set(name, [...(locations.get(name) ?? []), location]);
  };
  for (const { name, location } of registered) note(name, location);
  for (const { name, location, module } of methods)
    if (name !== undefined) note(name, `${location} in ${module?.name ?? 'an unknown module'}`);
  for (const [name, found] of locations)
    if (found.length > 1) problems.push(`job '${name}' must be declared once, got ${found.join(' and ')}: ${ONCE}`);
}

/** A sentence about each override whose job does not exist. */
export function unknownOverrides(
  methods: readonly FoundMethod[],
  registered: readonly Job[],
  options: ResolvedOptions,
): string[] {
  const names = namesOf(methods, registered);
  const byName = Object.keys(options.jobs).map((name) => ({ name, place: `jobs.${name}` }));
  return [...unknownIn(byName, names), ...unknownIn(jobsOfVariables(options), names.map(jobInVariable))];
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
export function namesOf(methods: readonly FoundMethod[], registered: readonly Job[]): readonly string[] {
  return [...new Set([...registered, ...methods].flatMap(({ name }) => name ?? []))];
}

interface GivenName {
  readonly name: string;
  /** Its name in messages. */
  readonly place: string;
}

function unknownIn(given: readonly GivenName[], names: readonly string[]): string[] {
  const fallback = names.length === 0 ? 'there are no jobs' : `the jobs are ${names.join(', ')}`;
  return given
    .filter(({ name }) => !names.includes(name))
    .map(
      ({ name, place }) =>
        `${place} is no job of this application, so it changes nothing: ${didYouMean(name, names, fallback)}`,
    );
}

/** The jobs that variables name, in the form of variables: `DAILY_REPORT`. */
function jobsOfVariables({ jobVariables, jobPrefix }: ResolvedOptions): readonly GivenName[] {
  return Object.keys(jobVariables).map((name) => ({ name, place: `${jobPrefix}${name}` }));
}
