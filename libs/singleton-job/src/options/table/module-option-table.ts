import { EVENT_NAMES } from '../../base/events/events.js';
import { type JobObserver } from '../../base/events/observer.js';
import { isClass, isObject, isPlainObject } from '../../base/text/describe-value.js';
import { MIN_LOCK_EXPIRY_MS } from '../../store/lease-id.js';
import { readConnection } from '../connection/connection-option.js';
import { readStore } from '../connection/store-option.js';
import { type SingletonJobOptions } from '../singleton-job.options.js';
import { heartbeatThread } from './heartbeat-thread-option.js';
import { isName, NAME_RULE, nodeId } from './names.js';
import { type OptionRow, type OptionType } from './option-table.js';
import { boolean, duration, durationOrFalse, fromCode, matching, text, timeZone } from './option-types.js';

/** Ties each option to its interface in `singleton-job.options.ts`. */
type ModuleOptionTable = Readonly<Record<keyof SingletonJobOptions, OptionRow>>;

/** In `public`, Prisma takes tables that it does not know for a change by hand, and offers to reset the database. */
const schema = text(
  (value): value is string => typeof value === 'string' && /^(?!public$)[a-z_][a-z0-9_]{0,62}$/.test(value),
  "a name of lower case letters, digits and _, at most 63, and not 'public'",
  "give the library one of its own, as in 'singleton_job'",
);

const JOBS_FIX = "write it as { 'price-tick': { period: '1s' } }";
const jobs = fromCode('object', matching(isObject, 'an object of overrides by job name', JOBS_FIX));

/** An object with methods of other names only would get nothing: a name may be misspelt. */
function isObserver(value: unknown): value is JobObserver {
  if (!isObject(value)) return false;
  const isEmpty = isPlainObject(value) && Object.keys(value).length === 0;
  return isEmpty || [...EVENT_NAMES, 'onEvent'].some((name) => name in value);
}

const observers = listOf(isObserver, {
  what: 'an object with a method for each event, such as runFailed',
  fix: 'methods of a provider get events with @OnJobEvent',
  example: '{ runFailed: alert }',
});

/** Whether a class is a provider is known only to the container. */
const isInterceptor = (value: unknown): value is NonNullable<SingletonJobOptions['interceptors']>[number] =>
  isClass(value) || (isObject(value) && 'intercept' in value);

const interceptors = listOf(isInterceptor, {
  what: 'an interceptor or the class of one',
  fix: 'see RunInterceptor for what it implements',
  example: 'TransactionInterceptor',
});

/** `lockExpiry` of the module or of a job. */
export const expiry = duration({ minMs: MIN_LOCK_EXPIRY_MS, maxMs: 86_400_000 });

/**
 * Every option of the module. Options without a default have none, or one that depends on others. The page about
 * options shows them with the docstrings of the interface.
 */
export const MODULE_OPTIONS = {
  projectName: { type: text(isName, NAME_RULE, "call it after the application, as in 'myapp'"), isRequired: true },
  connection: { type: { name: 'URL, object or function', variable: 'text', read: readConnection } },
  schema: { type: schema },
  migrate: { type: boolean },
  store: { type: fromCode('object', readStore) },
  heartbeatInterval: { type: duration({ minMs: 50 }), default: 3_000 },
  lockExpiry: { type: expiry, default: 10_000 },
  heartbeatThread: { type: heartbeatThread },
  crashHandover: { type: boolean, default: true },
  nodeId: { type: nodeId },
  // a second to wait for runs, a second after aborting them, and a second to release the jobs
  shutdownTimeout: { type: duration({ minMs: 3_000 }), default: 8_000 },
  timeZone: { type: timeZone, default: 'UTC' },
  misfireGrace: { type: duration({ minMs: 0 }) },
  warnAfter: { type: durationOrFalse, default: 8_000 },
  enabled: { type: boolean, default: true },
  rebalance: { type: boolean, default: false },
  jobs: { type: jobs, default: Object.freeze({}) },
  observers: { type: observers, default: Object.freeze([]) },
  interceptors: { type: interceptors, default: Object.freeze([]) },
} satisfies ModuleOptionTable;

/** A list of objects, or of classes of providers. */
function listOf<T>(
  is: (value: unknown) => value is T,
  { what, fix, example }: { readonly what: string; readonly fix: string; readonly example: string },
): OptionType<readonly T[], 'none'> {
  return fromCode('list', (value, place) => {
    if (!Array.isArray(value)) return place.refuse(value, 'a list', `put it in brackets, as in [${example}]`);
    const entries: readonly unknown[] = value;
    for (const [index, entry] of entries.entries()) {
      if (!is(entry)) place.in(index).refuse(entry, what, fix);
    }
    return Object.freeze(entries.filter(is));
  });
}
