import { type JobMetadata, recordedJobs } from '../decorators/index.js';

/** A member of a class that bears at least one of our decorators. */
export interface DecoratedMember {
  readonly name: string | symbol;
  /** One entry for each decorator. An override that bears none has those of what it overrides. */
  readonly metadata: readonly JobMetadata[];
  readonly shape: 'method' | 'accessor' | 'property' | 'static';
  /** It bears a decorator of `@nestjs/schedule` too. */
  readonly isScheduledByNest: boolean;
}

/** The key under which `@nestjs/schedule` marks the functions it runs. */
const NEST_SCHEDULE_KEY = 'SCHEDULER_TYPE';

/** The decorated members of a class, its own and inherited, by its prototype alone: no instance and no getter is read. */
export function decoratedMembers(prototype: object): readonly DecoratedMember[] {
  const members = [...recordedJobs(prototype)].map(([name, metadata]): DecoratedMember => {
    const descriptor = descriptorOf(prototype, name);
    const isMethod = typeof descriptor?.value === 'function';
    const isAccessor = descriptor?.get !== undefined || descriptor?.set !== undefined;
    const shape = isMethod ? 'method' : isAccessor ? 'accessor' : 'property';
    return { name, metadata, shape, isScheduledByNest: isMethod && bearsNestSchedule(descriptor.value) };
  });
  const statics = [...recordedJobs(classOf(prototype))].map(([name, metadata]): DecoratedMember => ({
    name,
    metadata,
    shape: 'static',
    isScheduledByNest: false,
  }));
  return [...members, ...statics];
}

/** Names of the methods that `@nestjs/schedule` runs. It marks functions, so an override without its decorator is none. */
export function methodsOfNestSchedule(prototype: object): readonly string[] {
  const names = new Set([...levelsOf(prototype)].flatMap((level) => Object.getOwnPropertyNames(level)));
  return [...names].filter((name) => bearsNestSchedule(descriptorOf(prototype, name)?.value));
}

/** The class that a prototype belongs to. */
export function classOf(prototype: object): { readonly name: string } {
  const constructor: unknown = descriptorOf(prototype, 'constructor')?.value;
  return typeof constructor === 'function' ? constructor : Object;
}

function bearsNestSchedule(value: unknown): boolean {
  return typeof value === 'function' && Reflect.hasOwnMetadata(NEST_SCHEDULE_KEY, value);
}

function descriptorOf(prototype: object, name: string | symbol): PropertyDescriptor | undefined {
  for (const level of levelsOf(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(level, name);
    if (descriptor !== undefined) return descriptor;
  }
  return undefined;
}

function* levelsOf(prototype: object): Generator<object> {
  for (let level: object | null = prototype; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    yield level;
  }
}
