import { InvalidJobsError } from '../base/errors/mistakes.errors.js';
import { type JobObserver } from '../base/events/observer.js';
import { type Job } from '../jobs/job.js';
import { jobsOf, type ProviderRef } from '../nest/decorated-methods.js';
import { eventMethodsOf } from '../nest/event-methods.js';
import { type ResolvedOptions } from '../options/resolve-options.js';

/**
 * The jobs of some objects, found by the rules of the explorer but without a container.
 *
 * @throws InvalidJobsError with every mistake
 */
export function exploreInstances(hosts: readonly object[], options: ResolvedOptions): readonly Job[] {
  const problems: string[] = [];
  const { jobs } = jobsOf(hosts.map(providerOf), [], options, problems);
  if (jobs.length === 0 && problems.length === 0)
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
  return { prototype, instance, scope: 'singleton', module: 'this test' };
}
