import { type JobObserver } from '../base/events/observer.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { isClass, isRecord } from '../base/text/describe-value.js';
import { isName, isNodeId, NAME_RULE, NODE_ID_RULE } from './names.js';
import { type OptionRow, type Reader } from './option-reader.js';
import { readConnection } from './read-connection.js';
import { readHeartbeatThread } from './read-heartbeat-thread.js';
import { readStore } from './read-store.js';
import { boolean, duration, durationOrFalse, expiry, matching, timeZone } from './readers.js';
import { type InterceptorClass, type ObserverClass, type SingletonJobOptions } from './singleton-job.options.js';
import { type KindOf } from './variables.js';

/** Ties each option to its interface in `singleton-job.options.ts`. */
type ModuleOptionTable = {
  readonly [K in keyof SingletonJobOptions]-?: OptionRow & {
    readonly variable: KindOf<NonNullable<SingletonJobOptions[K]>>;
  };
};

const isSchema = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value);

/** Whether a class is a provider is known only to the container. */
const isObserver = (value: unknown): value is JobObserver | ObserverClass =>
  isClass(value) || (typeof value === 'object' && value !== null);
const isInterceptor = (value: unknown): value is RunInterceptor | InterceptorClass =>
  isObserver(value) && (isClass(value) || 'intercept' in value);

/** Every option of the module. Options without a default have none, or one that depends on others. */
export const MODULE_OPTIONS = {
  projectName: {
    variable: 'text',
    read: matching(isName, NAME_RULE, "call it after the application, as in 'myapp'"),
    isRequired: true,
  },
  connection: { variable: 'text', read: readConnection },
  schema: {
    variable: 'text',
    read: matching(isSchema, 'a name of lower case letters, digits and _, at most 63', "call it as in 'singleton_job'"),
  },
  migrate: { variable: 'boolean', read: boolean },
  store: { variable: 'none', read: readStore },
  heartbeatInterval: { variable: 'duration', read: duration({ leastMs: 50 }), default: 3_000 },
  lockExpiry: { variable: 'duration', read: expiry, default: 10_000 },
  heartbeatThread: { variable: 'boolean', read: readHeartbeatThread },
  crashHandover: { variable: 'boolean', read: boolean, default: true },
  nodeId: {
    variable: 'text',
    read: matching(
      isNodeId,
      NODE_ID_RULE,
      'leave it out to use POD_NAME or the name of the host; a random part is appended',
    ),
  },
  // a second to wait for runs, a second after aborting them, and a second to release the locks
  shutdownTimeout: { variable: 'duration', read: duration({ leastMs: 3_000 }), default: 8_000 },
  timeZone: { variable: 'text', read: timeZone, default: 'UTC' },
  misfireGrace: { variable: 'duration', read: duration({ leastMs: 0 }) },
  warnAfter: { variable: 'duration', read: durationOrFalse, default: 8_000 },
  enabled: { variable: 'boolean', read: boolean, default: true },
  rebalance: { variable: 'boolean', read: boolean, default: false },
  jobs: {
    variable: 'none',
    read: matching(isRecord, 'an object of overrides by job name', "write it as { 'price-tick': { period: '1s' } }"),
    default: Object.freeze({}),
  },
  observers: {
    variable: 'none',
    read: listOf(isObserver, 'observer', 'JobObserver', 'MetricsObserver'),
    default: Object.freeze([]),
  },
  interceptors: {
    variable: 'none',
    read: listOf(isInterceptor, 'interceptor', 'RunInterceptor', 'TransactionInterceptor'),
    default: Object.freeze([]),
  },
} satisfies ModuleOptionTable;

const IN_CONNECTION = "set connection, as in connection: 'redis://host:6379'";

export const MODULE_OPTION_FIXES = {
  keyPrefix: 'the keys begin with projectName, so set that instead',
  redis: IN_CONNECTION,
  postgres: "set connection, as in connection: 'postgresql://host/database'",
  url: IN_CONNECTION,
  host: IN_CONNECTION,
  port: IN_CONNECTION,
  nodes: "the nodes of a cluster belong in connection, as in connection: { nodes: ['redis://host:6379'] }",
  disabled: 'say enabled: false',
  stallLimit:
    'the limit of heartbeatThread is 20 s, because a leader cannot trust its locks for longer without renewing them',
};

/** Takes a list of observers or interceptors: objects, or classes of providers. */
function listOf<T>(
  is: (value: unknown) => value is T,
  what: string,
  contract: string,
  example: string,
): Reader<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return at.refuse(value, `a list of ${what}s`, `put it in brackets, as in [${example}]`);
    const entries: readonly unknown[] = value;
    for (const [index, entry] of entries.entries()) {
      if (is(entry)) continue;
      at.in(index).refuse(entry, `an ${what} or the class of one`, `see ${contract} for what it implements`);
    }
    return Object.freeze(entries.filter(is));
  };
}
