import { type ScheduleKind } from '../base/events/run-info.js';
import { MemberMetadata } from './member-metadata.js';
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

/** The decorators of jobs. */
export const JOBS = new MemberMetadata<JobMetadata>('jobs');
const CLASS_NAME = Symbol.for('nestjs-singleton-job:class-name');

/** Records a decorator of a member of `target`: a prototype, or a class if the member is static. */
export function recordJob(target: object, member: string | symbol, metadata: JobMetadata): void {
  if (declaredClassName(target) === undefined) Reflect.defineMetadata(CLASS_NAME, classNameOf(target), target);
  JOBS.record(target, member, Object.freeze(metadata));
}

/** The name of the class when its first member was decorated. Undefined: none of its own members is decorated. */
export function declaredClassName(prototype: object): string | undefined {
  return Reflect.getOwnMetadata(CLASS_NAME, prototype) as string | undefined;
}
