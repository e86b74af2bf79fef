import { didYouMean } from '../advice/suggest.js';
import { type ResolvedOptions } from '../options/resolve-options.js';

const FIX_OF_TWICE_DECLARED =
  'give each a name of its own, or provide the class once: in one module, with { provide: …, useExisting } for a second token. ' +
  'An inherited method takes the name of its class if the decorator has none';

/** A job by its name, and where it is declared. */
export interface NamedJob {
  /** Undefined: a mistake, so that it has no name. */
  readonly name: string | undefined;
  readonly location: string;
  /** The module of a decorated job. */
  readonly module?: string;
}

/**
 * Notes jobs that share a name, so that they would share a record, and variables that stand for several of them.
 */
export function checkNames(jobs: readonly NamedJob[], options: ResolvedOptions, problems: string[]): void {
  const byName = new Map<string, NamedJob[]>();
  for (const job of jobs) {
    if (job.name !== undefined) byName.set(job.name, [...(byName.get(job.name) ?? []), job]);
  }
  for (const [name, found] of byName) {
    const places = found.map(({ location, module }) => (module === undefined ? location : `${location} in ${module}`));
    if (found.length > 1)
      problems.push(`job '${name}' must be declared once, got ${places.join(' and ')}: ${FIX_OF_TWICE_DECLARED}`);
  }
  for (const { job, formOf, place } of options.jobs) {
    const meant = [...byName.keys()].filter((name) => formOf(name) === job);
    const fix = 'rename one of them, or set its options in code';
    if (meant.length > 1)
      problems.push(`${place} must be one job of this application, got ${meant.join(' and ')}: ${fix}`);
  }
}

/** A sentence about each override whose job does not exist. */
export function unknownOverrides(jobs: readonly NamedJob[], options: ResolvedOptions): string[] {
  return options.jobs.flatMap(({ job, formOf, place }) => {
    const names = jobs.flatMap(({ name }) => (name === undefined ? [] : formOf(name)));
    if (names.includes(job)) return [];
    const fallback = names.length === 0 ? 'there are no jobs' : `the jobs are ${names.join(', ')}`;
    return `${place} is no job of this application, so it changes nothing: ${didYouMean(job, names, fallback)}`;
  });
}
