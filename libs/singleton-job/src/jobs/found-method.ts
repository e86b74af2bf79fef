import { whyNotLasting } from './class-name.js';
import { declaredClassName, type JobMetadata, JOBS } from './job.decorators.js';
import { type JobRun } from './job-run.js';
import { isRecord } from '../base/text/describe-value.js';
import { isName } from '../options/names.js';
import { isOfNestSchedule } from './nest-schedule.js';
import { classNameOf, classOf, descriptorOf } from './prototype.js';

/** A decorated member or a registration that was found, and is not checked yet. */
export interface FoundMethod {
  /** `Class.method`, or `register('name')`, for messages. */
  readonly location: string;
  /** One entry for each decorator. A registration has one entry. */
  readonly metadata: readonly JobMetadata[];
  /** The name in its options, otherwise its location. Undefined: a mistake, so that it has no name. */
  readonly name: string | undefined;
  /** Why it cannot be a job, with any options. */
  readonly mistake?: string | undefined;
  /** The class of the instance. A registration has no class and no module. */
  readonly className?: string;
  /** Why its class cannot name it. Undefined: the class can. */
  readonly whyNameless?: string | undefined;
  readonly module?: { readonly name: string } | undefined;
  readonly invoke: (run: JobRun) => unknown;
}

/** A provider or controller, whose members may be decorated. */
export interface ProviderRef {
  readonly prototype: object;
  /** The object whose method is called. Undefined: the container keeps no single instance. */
  readonly instance: object | undefined;
  readonly scope: 'singleton' | 'transient' | 'request' | 'request-by-dependency';
  /** The module that provides it. */
  readonly module: { readonly name: string } | undefined;
}

/** The decorated members of a provider, its own and inherited ones. Only the prototype is read, and no getter is called. */
export function foundMethodsOf(provider: ProviderRef): readonly FoundMethod[] {
  const { prototype, module } = provider;
  const declared = declaredClassName(prototype);
  const className = declared ?? classNameOf(prototype);
  const whyNameless = whyNotLasting(classNameOf(prototype), declared);
  return [prototype, classOf(prototype)].flatMap((target) =>
    [...JOBS.of(target)].map(([member, metadata]) => {
      const location = [className || '(anonymous class)', ...(isOfClass(member) ? [] : [String(member)])].join('.');
      const mistake =
        decoratorMistake(metadata, target, member) ?? scopeMistake(provider, metadata[0]?.decorator ?? '', 'job');
      const name = mistake === undefined ? nameOf(location, whyNameless, metadata) : undefined;
      const invoke = callOf(provider, member);
      return { location, metadata, name, mistake, className, whyNameless, module, invoke };
    }),
  );
}

/** Calls a member of a provider. It is looked up at each call, so that spies and wrappers are called. */
export function callOf({ instance }: ProviderRef, member: string | symbol): (argument: unknown) => unknown {
  return (argument) => {
    const method: unknown = Reflect.get(instance as object, member);
    return Reflect.apply(method as (argument: unknown) => unknown, instance, [argument]);
  };
}

/** Whether the decorator is on a class. TypeScript refuses that, JavaScript calls the decorator without a member. */
function isOfClass(member: unknown): boolean {
  return member === undefined;
}

/** The raw `name` in the options of a decorator. */
function givenName(metadata: JobMetadata | undefined): unknown {
  return isRecord(metadata?.options) ? metadata.options['name'] : undefined;
}

function nameOf(
  location: string,
  whyNameless: string | undefined,
  [metadata]: readonly JobMetadata[],
): string | undefined {
  const given = givenName(metadata);
  if (given !== undefined) return isName(given) ? given : undefined;
  return whyNameless === undefined && isName(location) ? location : undefined;
}

function decoratorMistake(
  metadata: readonly JobMetadata[],
  target: object,
  member: string | symbol,
): string | undefined {
  const decorators = metadata.map(({ decorator }) => decorator);
  const [decorator = ''] = decorators;
  if (decorators.length > 1) {
    return `must have one decorator, got ${decorators.join(' and ')}: give each schedule a method of its own`;
  }
  const mistake = placeMistake(decorator, target, member);
  if (mistake !== undefined || !isOfNestSchedule(descriptorOf(target, member)?.value)) return mistake;
  const fix = 'remove that of @nestjs/schedule, which runs the method on every replica';
  return `must have one decorator, got ${decorator} and one of @nestjs/schedule: ${fix}`;
}

/** Undefined: it is on a method of an instance. TypeScript refuses most other places, JavaScript does not. */
export function placeMistake(
  decorator: string,
  target: object,
  member: string | symbol,
  parameter = 'run',
): string | undefined {
  if (isOfClass(member)) return `${decorator} must be on a method, got the class: put it above the method that it runs`;
  if (typeof target === 'function') {
    return `${decorator} must be on a method of an instance, got a static method: make it one of the provider`;
  }
  const descriptor = descriptorOf(target, member);
  if (typeof descriptor?.value === 'function') return undefined;
  const isAccessor = descriptor?.get !== undefined || descriptor?.set !== undefined;
  const shape = isAccessor ? 'a getter or setter' : 'a property';
  return `${decorator} must be on a method, got ${shape}: write it as async ${String(member)}(${parameter}) { … }`;
}

const SCOPES = {
  transient: 'is transient',
  request: 'is request-scoped',
  'request-by-dependency': 'depends on something request-scoped',
} as const;

/** `what`: the job or the method that must move. */
export function scopeMistake({ prototype, scope }: ProviderRef, decorator: string, what: string): string | undefined {
  if (scope === 'singleton') return undefined;
  const fix = `move the ${what} into a provider of its own, which gets what it needs by ModuleRef.resolve()`;
  return `${decorator} must be on a singleton, got ${classOf(prototype).name}, which ${SCOPES[scope]}: ${fix}`;
}
