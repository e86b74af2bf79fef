import { classOf, methodsOf } from '../jobs/prototype.js';

/** The key under which `@nestjs/schedule` marks the functions it runs. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';
/** How it marks those with `@Timeout`. */
const TIMEOUT_TYPE = 2;

/**
 * The token of the options of `ScheduleModule`. It is safer than the class name: a module of the application may have
 * the same name, and a minifier changes class names.
 */
export const SCHEDULE_MODULE_OPTIONS = 'SCHEDULE_MODULE_OPTIONS';

/** The methods of an application that have a decorator of `@nestjs/schedule`. */
export interface NestScheduleMethods {
  readonly methods: readonly NestScheduleMethod[];
  /** Whether they run, on every replica. */
  readonly isModuleImported: boolean;
}

interface NestScheduleMethod {
  /** `Class.method`. */
  readonly location: string;
  /** It has `@Timeout`, and not `@Cron` or `@Interval`. */
  readonly isTimeout: boolean;
}

/** Whether a method has a decorator of `@nestjs/schedule`. */
export function isOfNestSchedule(method: unknown): boolean {
  return typeof method === 'function' && Reflect.hasOwnMetadata(SCHEDULER_TYPE, method);
}

/**
 * Those methods of a class. `@nestjs/schedule` marks functions, so an override without its own decorator does not
 * count.
 */
export function methodsOfNestSchedule(prototype: object): readonly NestScheduleMethod[] {
  const marked = [...methodsOf(prototype)].filter(([, method]) => isOfNestSchedule(method));
  return marked.map(([name, method]) => ({
    location: `${classOf(prototype).name}.${name}`,
    isTimeout: Reflect.getOwnMetadata(SCHEDULER_TYPE, method) === TIMEOUT_TYPE,
  }));
}
