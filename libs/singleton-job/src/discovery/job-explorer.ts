import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { isClass, RESOLVED_OPTIONS, type ResolvedOptions } from '../options/index.js';
import { checkDuplicates } from './check-duplicates.js';
import { classOf, decoratedMembers, methodsOfNestSchedule } from './decorated-members.js';
import { defineJob } from './define-job.js';
import { type FoundJob } from './found-job.js';
import { type JobDefinition } from './job-definition.js';
import { unknownOverrides } from './unknown-overrides.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

const OR_IGNORE =
  '(or set ignoreUnknownJobs: true, where the provider of the job is left out or replaced, as in a test)';

/** Finds the jobs of the application among all its providers and controllers. */
@Injectable()
export class JobExplorer {
  readonly #logger = new Logger('SingletonJobModule');

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedOptions,
  ) {}

  /**
   * Every job, checked and with its overrides applied. Those with mistakes are left out and every mistake is noted.
   * `registered` are those that the application has registered by then.
   * Providers have to be instantiated: not before `onModuleInit`.
   *
   * What a request-scoped or transient factory makes under a token that is no class cannot be known without calling it:
   * a decorated method of that goes unseen.
   */
  explore(registered: readonly JobDefinition[], problems: string[]): readonly JobDefinition[] {
    const jobs = this.#find().map((found) => defineJob(found, this.options, problems));
    checkDuplicates(jobs, registered, problems);
    const unknown = unknownOverrides(jobs, registered, this.options);
    if (this.options.ignoreUnknownJobs) for (const problem of unknown) this.#logger.debug(`ignored: ${problem}`);
    else problems.push(...unknown.map((problem) => `${problem} ${OR_IGNORE}`));
    return jobs.flatMap(({ definition }) => definition ?? []);
  }

  #find(): FoundJob[] {
    const found: FoundJob[] = [];
    const seen = new Set<object>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      // an alias, and one object under two tokens, is one host
      const host = wrapper.isAlias ? undefined : hostOf(wrapper);
      if (host === undefined || seen.has(host.key)) continue;
      seen.add(host.key);
      found.push(...this.#jobsOf(host, wrapper.host));
    }
    return found;
  }

  #jobsOf({ instance, prototype, scope }: Host, module: FoundJob['module']): FoundJob[] {
    const className = classOf(prototype).name;
    const members = decoratedMembers(prototype);
    const others = members.length > 0 ? methodsOfNestSchedule(prototype) : [];
    if (others.length > 0) {
      this.#logger.debug(
        `${className} has methods of @nestjs/schedule, which run on every replica: ${others.join(', ')}`,
      );
    }
    return members.map((member) => ({ host: instance, className, member, module, scope }));
  }
}

interface Host {
  readonly instance: object | undefined;
  readonly prototype: object;
  readonly scope: FoundJob['scope'];
  /** What tells it from other hosts. */
  readonly key: object;
}

function hostOf(wrapper: Wrapper): Host | undefined {
  const scope = scopeOf(wrapper);
  if (scope !== 'singleton') {
    // there is no instance to look at; what a factory makes for a class is taken to be one
    const type: unknown = wrapper.isNotMetatype ? wrapper.token : wrapper.metatype;
    return isClass(type)
      ? { instance: undefined, prototype: type.prototype as object, scope, key: wrapper }
      : undefined;
  }
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return prototype === null ? undefined : { instance, prototype, scope, key: instance };
}

function scopeOf(wrapper: Wrapper): FoundJob['scope'] {
  // a transient one counts as static, yet what stands in the container is an empty shell
  if (wrapper.isTransient) return 'transient';
  if (wrapper.isDependencyTreeStatic()) return 'singleton';
  return wrapper.scope === Scope.REQUEST ? 'request' : 'request-by-dependency';
}
