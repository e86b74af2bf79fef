import { InvalidJobsError } from '../base/errors/mistakes.errors.js';
import { type JobObserver } from '../base/events/observer.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { checkDuplicates } from '../jobs/check-names.js';
import { defineJob } from '../jobs/define-job.js';
import { eventMethodsOf } from '../jobs/event-methods.js';
import { foundMethodsOf, type ProviderRef } from '../jobs/found-method.js';
import { type Job } from '../jobs/job.js';

/**
 * The jobs of some objects, found by the rules of the explorer but without a container.
 *
 * @throws InvalidJobsError with every mistake
 */
export function exploreInstances(hosts: readonly object[], options: ResolvedOptions): readonly Job[] {
  const problems: string[] = [];
  const candidates = hosts.map(providerOf).flatMap(foundMethodsOf);
  const jobs = candidates.flatMap((candidate) => defineJob(candidate, options, problems) ?? []);
  checkDuplicates(candidates, [], problems);
  if (candidates.length === 0)
    problems.push('no object has a decorated method: pass instances of the classes that have jobs');
  if (problems.length > 0) throw new InvalidJobsError(problems);
  return jobs;
}

/**
 * The methods of some objects with `@OnJobEvent`.
 *
 * @throws InvalidJobsError with every mistake
 */
export function eventMethodsOfInstances(hosts: readonly object[]): readonly JobObserver[] {
  const problems: string[] = [];
  const observers = hosts.map(providerOf).flatMap((provider) => eventMethodsOf(provider, problems));
  if (problems.length > 0) throw new InvalidJobsError(problems);
  return observers;
}

function providerOf(instance: object): ProviderRef {
  const prototype = Object.getPrototypeOf(instance) as object;
  return { prototype, instance, scope: 'singleton', module: { name: 'this test' } };
}
