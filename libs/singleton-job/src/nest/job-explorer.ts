import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { isClass } from '../base/text/describe-value.js';
import { unknownOverrides } from '../jobs/check-names.js';
import { type Job } from '../jobs/job.js';
import { RESOLVED_OPTIONS, type ResolvedOptions } from '../options/resolve-options.js';
import { jobsOf, type ProviderRef } from './decorated-methods.js';
import { eventMethodsOf, unheardClasses } from './event-methods.js';
import { methodsOfNestSchedule, SCHEDULE_MODULE_OPTIONS } from './nest-schedule.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Finds the jobs of the application among all its providers and controllers. */
@Injectable()
export class JobExplorer {
  readonly #logger = new Logger('SingletonJobModule');

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedOptions,
  ) {}

  /**
   * Every decorated method. Jobs are checked and their overrides applied. Methods with mistakes are left out, and every
   * mistake is noted. An override of no job is a warning: its job may be registered later, or left out, as in a test.
   * `registered` are the jobs that the application has registered so far. Call it in `onModuleInit` or later, when all
   * providers exist.
   *
   * One case is not found: a decorated method of an object from a request-scoped or transient factory whose token is
   * not a class. Only a call of the factory would show the object.
   */
  explore(registered: readonly Job[], problems: string[]) {
    const providers = this.#providers();
    const { jobs, named } = jobsOf(providers, registered, this.options, problems);
    const eventMethods = providers.flatMap((provider) => eventMethodsOf(provider, problems));
    const unheard = unheardClasses(providers);
    if (unheard !== undefined) this.#logger.log(unheard);
    // a job with a mistake may be the one that is meant
    if (problems.length === 0) for (const warning of unknownOverrides(named, this.options)) this.#logger.warn(warning);
    return { jobs, eventMethods, nestSchedule: this.#nestSchedule(providers) };
  }

  /** The methods that `@nestjs/schedule` runs on every replica, or would run if its module were imported. */
  #nestSchedule(providers: readonly ProviderRef[]) {
    const isModuleImported = this.discovery.getProviders().some(({ token }) => token === SCHEDULE_MODULE_OPTIONS);
    const methods = providers
      // @nestjs/schedule does not run request-scoped methods, and warns about them itself
      .filter(({ scope }) => !isModuleImported || scope === 'singleton' || scope === 'transient')
      .flatMap(({ prototype }) => methodsOfNestSchedule(prototype));
    return { methods, isModuleImported };
  }

  #providers(): ProviderRef[] {
    const providers = new Map<object, ProviderRef>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      // an object counts once, also with an alias or a second token
      const provider = wrapper.isAlias ? undefined : providerRefOf(wrapper);
      const key = provider?.instance ?? wrapper;
      if (provider !== undefined && !providers.has(key)) providers.set(key, provider);
    }
    return [...providers.values()];
  }
}

function providerRefOf(wrapper: Wrapper): ProviderRef | undefined {
  const scope = scopeOf(wrapper);
  const module = wrapper.host?.name ?? 'an unknown module';
  if (scope !== 'singleton') {
    // there is no instance; assume that a factory with a class as its token returns an instance of it
    const type: unknown = wrapper.isNotMetatype ? wrapper.token : wrapper.metatype;
    return isClass(type) ? { prototype: type.prototype as object, instance: undefined, scope, module } : undefined;
  }
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return prototype === null ? undefined : { prototype, instance, scope, module };
}

function scopeOf(wrapper: Wrapper): ProviderRef['scope'] {
  // Nest counts a transient provider as static, but the container has only an empty object for it
  if (wrapper.isTransient) return 'transient';
  if (wrapper.isDependencyTreeStatic()) return 'singleton';
  return wrapper.scope === Scope.REQUEST ? 'request-scoped' : 'request-scoped by a dependency';
}
