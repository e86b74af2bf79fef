import { didYouMean, type ResolvedOptions, suggest } from '../options/index.js';
import { givenName, type JobCandidate } from './job-candidate.js';
import { type JobDefinition } from './job-definition.js';

/** Notes jobs that share a name: replicas could not tell them apart. */
export function checkDuplicates(
  candidates: readonly JobCandidate[],
  registered: readonly JobDefinition[],
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

/** Overrides of jobs that there are not, each with a suggestion. One that may be meant for a job whose name is a mistake is none. */
export function unknownOverrides(
  candidates: readonly JobCandidate[],
  registered: readonly JobDefinition[],
  options: ResolvedOptions,
): string[] {
  const names = [...registered, ...candidates].flatMap(({ name }) => name ?? []);
  const mistaken = candidates.flatMap((candidate) => (candidate.name === undefined ? namesTried(candidate) : []));
  const isMistaken = (name: string): boolean => mistaken.includes(name) || suggest(name, mistaken) !== undefined;
  const fallback = names.length === 0 ? 'there are no jobs' : `the jobs are ${names.join(', ')}`;
  return Object.keys(options.jobs)
    .filter((name) => !names.includes(name) && !isMistaken(name))
    .map((name) => `jobs.${name} is no job of this application: ${didYouMean(name, names, fallback)}`);
}

/** What a job that cannot be used was perhaps meant to be called. */
function namesTried({ location, metadata }: JobCandidate): string[] {
  return [location, ...metadata.map(givenName).filter((name) => typeof name === 'string')];
}
