import 'reflect-metadata';
import { type ScheduleKind } from '../base/events/run-info.js';
import { classNameOf } from './prototype.js';

/** The raw arguments of a decorator. They are checked at start-up, and all mistakes are reported at once. */
export interface JobMetadata {
  readonly kind: ScheduleKind;
  /** The name of the decorator, for messages: `@FixedRate`. */
  readonly decorator: string;
  /** Period, delay or expression. */
  readonly schedule: unknown;
  readonly options: unknown;
  /** The number of arguments, if there are more than the decorator takes. */
  readonly surplus?: number;
}

// Metadata is kept by prototype and method name, not on the function, which a wrapper or an override replaces. The symbols are
// registered, so that two copies of this package find each other's jobs.
const JOBS = Symbol.for('nestjs-singleton-job:jobs');
const MEMBERS = Symbol.for('nestjs-singleton-job:members');
const CLASS_NAME = Symbol.for('nestjs-singleton-job:class-name');

/** Records a decorator of a member of `target`: a prototype, or a class if the member is static. */
export function recordJob(target: object, member: string | symbol, metadata: JobMetadata): void {
  const own = Reflect.getOwnMetadata(JOBS, target, member) as JobMetadata[] | undefined;
  // innermost decorator first, the order in which decorators are applied
  Reflect.defineMetadata(JOBS, [...(own ?? []), Object.freeze(metadata)], target, member);
  // one set for all of them: a copy for each would cost 36 MB for a class of 1,000 jobs
  const members = ownMembers(target);
  if (members.size === 0) Reflect.defineMetadata(CLASS_NAME, classNameOf(target), target);
  members.add(member);
  Reflect.defineMetadata(MEMBERS, members, target);
}

/** The name of the class when its first member was decorated. Undefined: none of its own members is decorated. */
export function declaredClassName(prototype: object): string | undefined {
  return Reflect.getOwnMetadata(CLASS_NAME, prototype) as string | undefined;
}

/** Every decorated member of `target` and its base classes, with the decorators of its last declaration. */
export function recordedJobs(target: object): ReadonlyMap<string | symbol, readonly JobMetadata[]> {
  const jobs = new Map<string | symbol, readonly JobMetadata[]>();
  for (let level: object | null = target; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    for (const member of ownMembers(level)) {
      if (!jobs.has(member)) jobs.set(member, Reflect.getOwnMetadata(JOBS, level, member) as JobMetadata[]);
    }
  }
  return jobs;
}

function ownMembers(target: object): Set<string | symbol> {
  return (Reflect.getOwnMetadata(MEMBERS, target) as Set<string | symbol> | undefined) ?? new Set();
}
