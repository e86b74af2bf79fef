import { whyNotLasting } from '../advice/class-names.js';
import { isObject } from '../base/text/describe-value.js';
import { checkNames, type NamedJob } from '../jobs/check-names.js';
import { defineJob, generatorMistake, type JobDescription } from '../jobs/define-job.js';
import { declaredClassName, type JobMetadata, JOBS } from '../jobs/job.decorators.js';
import { type Job } from '../jobs/job.js';
import { type MemberMetadata } from '../jobs/member-metadata.js';
import { classNameOf, classOf, descriptorOf } from '../jobs/prototype.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { isName } from '../options/table/names.js';
import { isOfNestSchedule } from './nest-schedule.js';

/** A provider or controller, whose members may be decorated. */
export interface ProviderRef {
  readonly prototype: object;
  /** The object whose method is called. Undefined: the container keeps no single instance. */
  readonly instance: object | undefined;
  readonly scope: 'singleton' | 'transient' | 'request-scoped' | 'request-scoped by a dependency';
  /** The name of the module that provides it. */
  readonly module: string;
}

/** A decorated member of a provider. */
interface DecoratedMember<T> {
  /** `Class.member`, or the class alone if it is the one decorated. */
  readonly location: string;
  /** What its decorators have recorded. */
  readonly recorded: readonly T[];
  /** The method, also one that is static. Undefined: the member is none. */
  readonly method: unknown;
  /** Calls the member. It is looked up at each call, so that spies and wrappers are called. */
  readonly invoke: (argument: unknown) => unknown;
  /** What is wrong with the place of its decorators, whatever their arguments. Undefined: it can be called. */
  readonly mistake: string | undefined;
}

/**
 * The decorated jobs of these providers. They are checked and their overrides applied. What has a mistake is left out,
 * and each is noted. `named`: every job that was found, also with a mistake, and those that are registered.
 */
export function jobsOf(
  providers: readonly ProviderRef[],
  registered: readonly Job[],
  options: ResolvedOptions,
  problems: string[],
): { readonly jobs: readonly Job[]; readonly named: readonly NamedJob[] } {
  const described = providers.flatMap((provider) => {
    const descriptions = describedBy(provider, problems);
    return descriptions.map((description) => ({ ...description, job: defineJob(description, options, problems) }));
  });
  const named = [...registered, ...described];
  checkNames(named, options, problems);
  return { jobs: described.flatMap(({ job }) => job ?? []), named };
}

/** The decorated jobs of a provider. */
export function describedBy(provider: ProviderRef, problems: string[]): (JobDescription & NamedJob)[] {
  const { prototype, module } = provider;
  const notLasting = whyNotLasting(
    classNameOf(prototype),
    declaredClassName(prototype),
    Function.prototype.toString.call(classOf(prototype)),
  );
  return decoratedMembers(provider, JOBS).flatMap((member) => {
    const { location, recorded, invoke } = member;
    const mistake = decoratorMistake(member);
    if (mistake !== undefined) {
      problems.push(`${location}: ${mistake}`);
      return [];
    }
    const whyNameless =
      notLasting === undefined
        ? ` while '${location}' cannot be a name`
        : `: ${notLasting}, and the name of the job must be the same on all replicas`;
    const fallback = notLasting === undefined && isName(location) ? location : undefined;
    return recorded.map((metadata) => {
      const name = givenName(metadata) ?? fallback;
      return { ...metadata, location, module, name: isName(name) ? name : undefined, whyNameless, invoke };
    });
  });
}

function givenName({ options }: JobMetadata): unknown {
  return isObject(options) ? options['name'] : undefined;
}

function decoratorMistake({ recorded, method, mistake }: DecoratedMember<JobMetadata>) {
  const decorator = recorded.map((metadata) => metadata.decorator).join(' and ');
  if (recorded.length > 1 && recorded.some((metadata) => givenName(metadata) === undefined))
    return `must have a name for each of its schedules, got ${decorator}: name each, as in { name: 'price-tick' }`;
  if (isOfNestSchedule(method)) {
    const fix = 'remove that of @nestjs/schedule, which runs the method on every replica';
    return `must have one decorator, got ${decorator} and one of @nestjs/schedule: ${fix}`;
  }
  return mistake && `${decorator} ${mistake}`;
}

/**
 * The decorated members of a provider, its own and inherited ones. Only the prototype is read, and no getter is called.
 */
export function decoratedMembers<T>(provider: ProviderRef, metadata: MemberMetadata<T>): readonly DecoratedMember<T>[] {
  const { prototype, instance } = provider;
  const className = declaredClassName(prototype) ?? classNameOf(prototype);
  return [prototype, classOf(prototype)].flatMap((target) =>
    [...metadata.of(target)].map(([member, recorded]) => ({
      // a class that is decorated has no member: TypeScript refuses that, JavaScript does not
      location: [className || '(anonymous class)', member].filter(Boolean).map(String).join('.'),
      recorded,
      method: descriptorOf(target, member)?.value as unknown,
      invoke: (argument: unknown) => {
        const method: unknown = Reflect.get(instance as object, member);
        return Reflect.apply(method as (argument: unknown) => unknown, instance, [argument]);
      },
      mistake: placeMistake(target, member) ?? scopeMistake(provider),
    })),
  );
}

/** Undefined: it is on a method of an instance. TypeScript refuses most other places, JavaScript does not. */
function placeMistake(target: object, member: string | symbol): string | undefined {
  const isOfInstance = typeof target !== 'function';
  const method: unknown = descriptorOf(target, member)?.value;
  if (isOfInstance && typeof method === 'function') return generatorMistake(method);
  const place = isOfInstance ? 'a property' : 'a class or a static member';
  return `must be on a method of an instance, got ${place}: put it above a method of the provider`;
}

function scopeMistake({ prototype, scope }: ProviderRef): string | undefined {
  if (scope === 'singleton') return undefined;
  const fix = 'move the method into a provider of its own, which gets what it needs by ModuleRef.resolve()';
  return `must be on a singleton, got ${classOf(prototype).name}, which is ${scope}: ${fix}`;
}
