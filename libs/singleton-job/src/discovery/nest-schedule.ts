import { descriptorOf, levelsOf } from './prototype.js';

/** The key under which `@nestjs/schedule` marks the functions it runs. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';

/** Whether a method has a decorator of `@nestjs/schedule`. */
export function isOfNestSchedule(method: unknown): boolean {
  return typeof method === 'function' && Reflect.hasOwnMetadata(SCHEDULER_TYPE, method);
}

/** Names of the methods that `@nestjs/schedule` runs. It marks functions, so an override without its decorator is none. */
export function methodsOfNestSchedule(prototype: object): readonly string[] {
  const names = new Set([...levelsOf(prototype)].flatMap((level) => Object.getOwnPropertyNames(level)));
  return [...names].filter((name) => isOfNestSchedule(descriptorOf(prototype, name)?.value));
}
