import { Inject, Injectable, Logger, Scope, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { decoratedMethods } from '../decorators/index.js';
import { isClass, RESOLVED_OPTIONS, type ResolvedOptions } from '../options/index.js';
import { ambiguousVariables, checkDuplicates, namesOf, unknownOverrides } from './check-names.js';
import { defineJob } from './define-job.js';
import { candidatesOf, type JobHost } from './job-candidate.js';
import { type JobDefinition } from './job-definition.js';
import { levelsOf } from './prototype.js';
import { methodsOfNestSchedule, type NestScheduleMethods, SCHEDULE_MODULE_OPTIONS } from './nest-schedule.js';

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
    const candidates = this.#hosts().flatMap(candidatesOf);
    const jobs = candidates.flatMap((candidate) => defineJob(candidate, this.options, problems) ?? []);
    checkDuplicates(candidates, registered, problems);
    problems.push(...ambiguousVariables(namesOf(candidates, registered), this.options));
    const unknown = unknownOverrides(candidates, registered, this.options);
    if (this.options.ignoreUnknownJobs) for (const problem of unknown) this.#logger.debug(`ignored: ${problem}`);
    else problems.push(...unknown.map((problem) => `${problem} ${OR_IGNORE}`));
    return jobs;
  }

  /** What `@nestjs/schedule` runs beside the jobs, or would run if its module were imported. */
  nestScheduleMethods(): NestScheduleMethods {
    const isModuleImported = this.discovery.getProviders().some(({ token }) => token === SCHEDULE_MODULE_OPTIONS);
    const locations = this.#hosts()
      // @nestjs/schedule runs no request-scoped ones, and warns about them itself
      .filter(({ scope }) => !isModuleImported || scope === 'singleton' || scope === 'transient')
      .flatMap(({ prototype }) => methodsOfNestSchedule(prototype));
    return { locations: [...new Set(locations)], isModuleImported };
  }

  /** `Class.method` of decorated methods in this process whose class no module provides. It may be of another application. */
  unprovidedMethods(): readonly string[] {
    const provided = new Set(this.#hosts().flatMap(({ prototype }) => [...levelsOf(prototype)]));
    return decoratedMethods().flatMap(({ prototype, location }) => (provided.has(prototype) ? [] : [location]));
  }

  /** Whether a provider or controller has this class injected. */
  isInjected(token: Type): boolean {
    return this.#wrappers().some((wrapper) => {
      // Nest has neither list where nothing is injected
      const parameters = wrapper.getCtorMetadata() as readonly Partial<Wrapper>[] | undefined;
      const properties = wrapper.getPropertiesMetadata() as readonly { readonly wrapper: Wrapper }[] | undefined;
      const injected = [...(parameters ?? []), ...(properties ?? []).map((property) => property.wrapper)];
      return injected.some((dependency) => dependency.token === token);
    });
  }

  #wrappers(): Wrapper[] {
    return [...this.discovery.getProviders(), ...this.discovery.getControllers()];
  }

  #hosts(): JobHost[] {
    const hosts = new Map<object, JobHost>();
    for (const wrapper of this.#wrappers()) {
      // an alias, and one object under two tokens, is one host
      const host = wrapper.isAlias ? undefined : hostOf(wrapper);
      const key = host?.instance ?? wrapper;
      if (host !== undefined && !hosts.has(key)) hosts.set(key, host);
    }
    return [...hosts.values()];
  }
}

function hostOf(wrapper: Wrapper): JobHost | undefined {
  const scope = scopeOf(wrapper);
  const module = wrapper.host;
  if (scope !== 'singleton') {
    // there is no instance to look at; what a factory makes for a class is taken to be one
    const type: unknown = wrapper.isNotMetatype ? wrapper.token : wrapper.metatype;
    return isClass(type) ? { prototype: type.prototype as object, instance: undefined, scope, module } : undefined;
  }
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) return undefined;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return prototype === null ? undefined : { prototype, instance, scope, module };
}

function scopeOf(wrapper: Wrapper): JobHost['scope'] {
  // a transient one counts as static, yet what stands in the container is an empty shell
  if (wrapper.isTransient) return 'transient';
  if (wrapper.isDependencyTreeStatic()) return 'singleton';
  return wrapper.scope === Scope.REQUEST ? 'request' : 'request-by-dependency';
}
