import { inspect } from 'node:util';
import { type JobEvents } from 'nestjs-singleton-job';

/** What the job of this process does; the process of a test is started with it. */
export type JobFault = 'blocks' | 'throws' | 'never-ends' | 'closes' | 'observers';

/** The events for the parent process. */
export interface JobProcessMessage {
  readonly event: keyof JobEvents | 'ready';
  readonly payload?: {
    readonly job?: string;
    readonly fencingToken?: number;
    readonly code?: string;
    readonly blockedMs?: number;
  };
  readonly atMs: number;
}

/** So long that a lease survives seconds without a CPU. */
export const LOCK_EXPIRY_MS = 4_000;
/** How long a run blocks the event loop: longer than the life of its lock and the takeover by another replica. */
export const BLOCKED_MS = 10_000;
/** The `lockExpiry` of jobs whose locks must still exist when their process is gone. */
export const LONG_LOCK_EXPIRY_MS = 60_000;
export const SHUTDOWN_TIMEOUT_MS = 3_000;

export function explode(): never {
  throw new Error('looked at');
}

/** Everything that can be thrown, in turn. */
export const THROWN: readonly (() => unknown)[] = [
  () => new Error('boom'),
  () => undefined,
  () => null,
  () => 'boom',
  () => 42,
  () => Symbol('boom'),
  () => Object.freeze({}),
  () => new Proxy({}, { get: explode, has: explode, getPrototypeOf: explode }),
  () => Object.defineProperty(new Error('boom'), 'message', { get: explode }),
  () => ({ [inspect.custom]: explode, toString: explode }),
  () => new AggregateError([new Error('boom')], 'many'),
  () => new Error('x'.repeat(1_000_000)),
];
