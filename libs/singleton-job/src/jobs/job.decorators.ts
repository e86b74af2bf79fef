import { type ScheduleKind } from '../base/events/run-info.js';
import { isObject } from '../base/text/describe-value.js';
import { type Duration } from '../base/text/duration.js';
import {
  type CronOptions,
  type FixedRateOptions,
  type IntervalOptions,
  type OnceOptions,
  type WhileLeaderOptions,
} from '../options/job.options.js';
import { type JobRun } from './job-run.js';
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
}

/** The decorators of jobs. */
export const JOBS = new MemberMetadata<JobMetadata>('jobs');
const CLASS_NAME = Symbol.for('nestjs-singleton-job:class-name');

/** The name of the class when its first member was decorated. Undefined: none of its own members is decorated. */
export function declaredClassName(prototype: object): string | undefined {
  return Reflect.getOwnMetadata(CLASS_NAME, prototype) as string | undefined;
}

/**
 * Decorates a method that takes a `JobRun`, or another `Argument`, or nothing. It only records: mistakes are reported
 * when the application starts. The class must be a provider or a controller.
 */
export type JobDecorator<Argument = JobRun> = <T extends (argument: Argument) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * Runs the method at multiples of `period` since the epoch, on the leader of the job. The grid is the same on all
 * replicas. A tick that is due while a run is in flight is dropped, unless `overlap` is `'cancel-other'`.
 *
 * @example `@FixedRate('500ms', { name: 'price-tick' })`
 */
export function FixedRate(period: Duration, options?: FixedRateOptions): JobDecorator {
  return record({ kind: 'fixed-rate', decorator: '@FixedRate', schedule: period, options });
}

/**
 * Runs the method `delay` after the end of its last run, on the leader of the job. A replica that becomes leader runs
 * it at once, or `delay` after the last run ended on any replica, whichever is later.
 *
 * @example `@Interval('1s', { name: 'heartbeat' })`
 */
export function Interval(delay: Duration, options?: IntervalOptions): JobDecorator;
/** The same with a name as the first argument, as in `@nestjs/schedule`. */
export function Interval(name: string, delay: Duration): JobDecorator;
export function Interval(first: string | number, second?: IntervalOptions | Duration): JobDecorator {
  const isNamed = typeof second === 'string' || typeof second === 'number';
  const [delay, options] = isNamed ? [second, { name: first }] : [first, second];
  return record({ kind: 'interval', decorator: '@Interval', schedule: delay, options });
}

/**
 * Runs the method at each occurrence of a cron expression, on the leader of the job. The expression has 5 fields, or 6
 * with seconds in front. Each occurrence starts at most once. After a change of leader it may start late: see
 * `misfireGrace`.
 *
 * @example `@Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore' })`
 */
export function Cron(expression: string, options?: CronOptions): JobDecorator {
  return record({ kind: 'cron', decorator: '@Cron', schedule: expression, options });
}

/**
 * Leader election without a schedule: calls the method when this replica becomes the leader of the job. The call lasts
 * until the leadership or the application ends: then its signal fires at once, and another replica leads as soon as the
 * method has settled.
 *
 * If the method returns or throws while this replica leads, it is called again after `restartDelay`. After three throws
 * in a row the replica steps down, so that another one tries. A method that has not settled 10 s after its signal is
 * reported as slow.
 *
 * @example
 * ```ts
 * @WhileLeader('order-feed')
 * async consume({ signal }: JobRun): Promise<void> {
 *   for await (const order of this.orders.subscribe({ signal })) await this.handle(order);
 * }
 * ```
 */
export function WhileLeader(name: string, options?: Omit<WhileLeaderOptions, 'name'>): JobDecorator;
/** The same with the name among the options, or without one. */
export function WhileLeader(options?: WhileLeaderOptions): JobDecorator;
export function WhileLeader(first?: unknown, second?: unknown): JobDecorator {
  const options = namedOptions(first, second);
  return record({ kind: 'while-leader', decorator: '@WhileLeader', schedule: undefined, options });
}

/**
 * Runs the method once on all replicas together, when the first leader of the job begins: ever, or once for each
 * `version`. The run is claimed, so it starts at most once, unless the store loses its data. One that fails, or whose
 * process crashes, is not repeated: `trigger()` runs it again.
 *
 * @example `@Once('warm-up', { version: process.env.APP_VERSION ?? 'dev' })`
 */
export function Once(name: string, options?: Omit<OnceOptions, 'name'>): JobDecorator;
/** The same with the name among the options, or without one. */
export function Once(options?: OnceOptions): JobDecorator;
export function Once(first?: unknown, second?: unknown): JobDecorator {
  return record({ kind: 'once', decorator: '@Once', schedule: undefined, options: namedOptions(first, second) });
}

function namedOptions(first: unknown, second: unknown): unknown {
  const isNamed = typeof first === 'string' && (second === undefined || isObject(second));
  return isNamed ? { ...second, name: first } : (second ?? first);
}

function record(metadata: JobMetadata): JobDecorator {
  return (target, method) => {
    JOBS.record(target, method, Object.freeze(metadata));
    if (declaredClassName(target) === undefined) Reflect.defineMetadata(CLASS_NAME, classNameOf(target), target);
  };
}
