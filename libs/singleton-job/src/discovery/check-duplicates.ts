import { type DefinedJob } from './define-job.js';
import { type FoundJob, locationOf } from './found-job.js';
import { type JobDefinition } from './job-definition.js';

/** Notes jobs that share a name: replicas could not tell them apart. */
export function checkDuplicates(
  jobs: readonly DefinedJob[],
  registered: readonly JobDefinition[],
  problems: string[],
): void {
  const byName = new Map<string, FoundJob[]>();
  for (const { name, found } of jobs) {
    if (name !== undefined) byName.set(name, [...(byName.get(name) ?? []), found]);
  }
  for (const [name, found] of byName) {
    const other = registered.find((job) => job.name === name);
    if (other !== undefined) {
      const locations = [other.location, ...found.map(locationOf)].join(' and ');
      problems.push(`job '${name}' must be declared once, got ${locations}: give each a name of its own`);
      continue;
    }
    if (found.length === 1) continue;
    const locations = found
      .map((job) => `${locationOf(job)} in ${job.module?.name ?? 'an unknown module'}`)
      .join(' and ');
    problems.push(`job '${name}' must be declared once, got ${locations}: ${duplicateFix(found)}`);
  }
}

function duplicateFix(found: readonly FoundJob[]): string {
  const [first, ...others] = found;
  const className = first?.className ?? '';
  if (others.every((other) => other.className === className && other.member.name === first?.member.name)) {
    if (others.every((other) => other.module === first?.module)) {
      return `make one of the tokens an alias, as in { provide: …, useExisting: ${className} }, or name the classes apart`;
    }
    return `provide ${className} in one module, which exports it, or name the classes apart`;
  }
  if (others.every((other) => other.member.metadata === first?.member.metadata)) {
    return 'leave the name out where they inherit it from, and each is called Class.method';
  }
  return 'give each a name of its own';
}
