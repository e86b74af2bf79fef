import { classOf, descriptorOf, levelsOf } from '../jobs/prototype.js';

/** The key under which `@nestjs/schedule` marks the functions it runs. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';

/**
 * The token of the options of `ScheduleModule`. It is safer than the class name: a module of the application may have
 * the same name, and a minifier changes class names.
 */
export const SCHEDULE_MODULE_OPTIONS = 'SCHEDULE_MODULE_OPTIONS';

/** Whether a method has a decorator of `@nestjs/schedule`. */
export function isOfNestSchedule(method: unknown): boolean {
  return typeof method === 'function' && Reflect.hasOwnMetadata(SCHEDULER_TYPE, method);
}

/**
 * Those methods of a class, as `Class.method`. `@nestjs/schedule` marks functions, so an override without its own
 * decorator does not count.
 */
export function methodsOfNestSchedule(prototype: object): readonly string[] {
  const members = new Set(levelsOf(prototype).flatMap((level) => Object.getOwnPropertyNames(level)));
  const marked = [...members].filter((name) => isOfNestSchedule(descriptorOf(prototype, name)?.value));
  return marked.map((name) => `${classOf(prototype).name}.${name}`);
}
