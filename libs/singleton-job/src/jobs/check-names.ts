import { type ResolvedOptions } from '../options/resolve-options.js';
import { didYouMean } from '../base/text/suggest.js';
import { jobInVariable } from '../options/variables.js';
import { type FoundMethod } from './found-method.js';
import { type Job } from './job.js';

/** Notes jobs that share a name: their locks would be the same. */
export function checkDuplicates(methods: readonly FoundMethod[], registered: readonly Job[], problems: string[]): void {
  for (const [name, found] of groupByName(methods)) {
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

function groupByName(methods: readonly FoundMethod[]): ReadonlyMap<string, readonly FoundMethod[]> {
  const groups = new Map<string, FoundMethod[]>();
  for (const method of methods) {
    if (method.name === undefined) continue;
    const group = groups.get(method.name);
    if (group === undefined) groups.set(method.name, [method]);
    else group.push(method);
  }
  return groups;
}

function duplicateFix(found: readonly FoundMethod[]): string {
  const [first, ...others] = found;
  const className = first?.className ?? '';
  // two classes that a function made have the same location
  if (others.every(({ location, metadata }) => location === first?.location && metadata === first.metadata)) {
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
