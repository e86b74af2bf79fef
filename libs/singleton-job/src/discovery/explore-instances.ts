import { InvalidJobsError } from '../errors/index.js';
import { type ResolvedOptions } from '../options/index.js';
import { checkDuplicates } from './check-duplicates.js';
import { classOf, decoratedMembers } from './decorated-members.js';
import { defineJob } from './define-job.js';
import { type JobDefinition } from './job-definition.js';

/**
 * The jobs of some objects, by the rules of the explorer and without a container.
 *
 * @throws InvalidJobsError with every mistake
 */
export function exploreInstances(hosts: readonly object[], options: ResolvedOptions): readonly JobDefinition[] {
  const problems: string[] = [];
  const jobs = hosts.flatMap((host) => {
    const prototype = Object.getPrototypeOf(host) as object;
    const common = {
      host,
      className: classOf(prototype).name,
      module: { name: 'this test' },
      scope: 'singleton',
    } as const;
    return decoratedMembers(prototype).map((member) => defineJob({ ...common, member }, options, problems));
  });
  checkDuplicates(jobs, [], problems);
  if (jobs.length === 0)
    problems.push('no object has a decorated method: pass instances of the classes that have jobs');
  if (problems.length > 0) throw new InvalidJobsError(problems);
  return jobs.flatMap(({ definition }) => definition ?? []);
}
