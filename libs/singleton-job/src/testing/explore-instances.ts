import { InvalidJobsError } from '../base/errors/mistakes.errors.js';
import { jobsOf, type ProviderRef } from '../nest/decorated-methods.js';
import { eventMethodsOf } from '../nest/event-methods.js';
import { type ResolvedOptions } from '../options/resolve-options.js';

/**
 * The jobs of some objects and their methods with `@OnJobEvent`, found by the rules of the explorer but without a
 * container.
 *
 * @throws InvalidJobsError with every mistake
 */
export function exploreInstances(hosts: readonly object[], options: ResolvedOptions) {
  const problems: string[] = [];
  const providers = hosts.map((instance): ProviderRef => {
    const prototype = Object.getPrototypeOf(instance) as object;
    return { prototype, instance, scope: 'singleton', module: 'this test' };
  });
  const { jobs } = jobsOf(providers, [], options, problems);
  const observers = providers.flatMap((provider) => eventMethodsOf(provider, problems));
  if (jobs.length === 0 && problems.length === 0)
    problems.push('no object has a decorated method: pass instances of the classes that have jobs');
  if (problems.length > 0) throw new InvalidJobsError(problems);
  return { jobs, observers };
}
