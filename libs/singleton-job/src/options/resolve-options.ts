import { hostname } from 'node:os';
import { MODULE_WORDS } from '../advice/option-words.js';
import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { describeValue, isObject } from '../base/text/describe-value.js';
import { formatDuration } from '../base/text/duration.js';
import { kindOf, type ReadConnection } from '../store/open-store.js';
import { callConnection, readForEachClient, START_LIMIT_MS } from './connection/connection-function.js';
import { checkThreadConnection } from './table/heartbeat-thread-option.js';
import { MODULE_OPTIONS } from './table/module-option-table.js';
import { toNodeId } from './table/names.js';
import { type Parsed, Place, readOptions, type WithDefaults, settable, withDefaults } from './table/option-table.js';
import { type JobOverride, readOverrides } from './variables/overrides.js';
import {
  ENABLED_VARIABLE,
  fromVariables,
  OPTION_PREFIX,
  optionInVariable,
  type Variables,
} from './variables/variables.js';

type Raw = Readonly<Record<string, unknown>>;
type ParsedOptions = Parsed<typeof MODULE_OPTIONS>;

/**
 * The checked options of the module, with every default, and frozen. Durations are in milliseconds, and their names end
 * in `Ms`. Connections, stores, observers and interceptors are the user's objects.
 */
export interface ResolvedOptions extends Omit<WithDefaults<typeof MODULE_OPTIONS>, 'nodeId' | 'jobs'> {
  /** Without the random part. */
  readonly nodeId: string;
  /** From `jobs` and from variables. */
  readonly jobs: readonly JobOverride[];
  /** Why no job runs: `enabled: false`, or the variable of the environment. Undefined while `enabled` is true. */
  readonly disabledBy: string | undefined;
  /** The variables that look like options and set none, because the options come from code alone. */
  readonly unreadVariables: readonly string[];
  /** Reads `connection` anew. Undefined: it is the same for every client. */
  readonly readConnection?: ReadConnection | undefined;
}

/** The parsed and checked options, from the provider `SINGLETON_JOB_OPTIONS`. */
export const RESOLVED_OPTIONS = Symbol.for('nestjs-singleton-job:resolved-options');

/** A lease outlives two lost heartbeats. */
const HEARTBEATS_PER_EXPIRY = 3;

/**
 * {@link resolveOptions} for options whose `connection` may be a function. It is called once now, so that what it
 * returns is checked at start-up, and again for each new client.
 *
 * @throws InvalidOptionsError with every mistake, also if the function fails
 */
export async function resolveModuleOptions(raw: unknown): Promise<ResolvedOptions> {
  if (!isObject(raw) || typeof raw['connection'] !== 'function') return resolveOptions(raw);
  const { connection, ...others } = raw as { readonly connection: () => unknown; readonly store?: unknown };
  // a store wins, so that nothing needs the connection
  if (others.store !== undefined) return resolveOptions(others);
  try {
    const first = await callConnection(connection, START_LIMIT_MS);
    const options = resolveOptions({ ...raw, connection: first });
    return Object.freeze({ ...options, readConnection: readForEachClient(connection, options.connection) });
  } catch (error: unknown) {
    if (error instanceof InvalidOptionsError) throw error;
    // an application without jobs starts all the same
    if (check(others).problems.length === 0) return resolveOptions(others);
    const why = 'The start needs its answer, which says which store it is';
    // with a PostgreSQL every other option is possible
    const { problems } = check({ ...raw, connection: 'postgresql://unknown' });
    const failure = `${messageOf(error)}. ${why}: start again when it answers`;
    throw new InvalidOptionsError([failure, ...problems], { cause: error });
  }
}

/**
 * Parses and checks the options of the module, and fills in the defaults. The result is frozen. The object that the
 * user passed is neither changed nor frozen. It depends on the variables of the environment too, and on the name of the
 * host.
 *
 * @throws InvalidOptionsError with every mistake
 */
export function resolveOptions(raw: unknown, variables?: Variables, hostName?: string): ResolvedOptions {
  if (!isObject(raw)) {
    const fix = 'pass them to SingletonJobModule.forRoot(), or return them from the factory of forRootAsync()';
    throw new InvalidOptionsError([`options must be an object, got ${describeValue(raw)}: ${fix}`]);
  }
  const { problems, resolved } = check(raw, variables, hostName);
  if (problems.length > 0) throw new InvalidOptionsError(problems);
  return Object.freeze(resolved);
}

function check(raw: Raw, variables: Variables = process.env, hostName = hostname()) {
  const read = fromVariables(raw);
  const problems = [...(read?.problems ?? [])];
  const placeOf = (key: string): Place => {
    const hasVariable = read !== undefined && settable(MODULE_OPTIONS).includes(key);
    return new Place(key, problems, hasVariable ? `${read.prefix}${optionInVariable(key)}` : undefined);
  };
  const parsed = readOptions(MODULE_OPTIONS, raw, placeOf, MODULE_WORDS);
  const { jobs, ...resolved } = withDefaults(MODULE_OPTIONS, parsed);
  const variable = variables[ENABLED_VARIABLE] ?? '';
  const ofVariable = new Place(ENABLED_VARIABLE, problems);
  if (!['', 'true', 'false'].includes(variable))
    ofVariable.refuse(variable, 'true or false', 'set it to false to run no jobs, or unset it');
  const off = disabledBy(raw['enabled'], parsed.enabled, variable);
  if (raw['connection'] === undefined && raw['store'] === undefined && off === undefined) {
    const fix =
      "pass a URL of Redis, PostgreSQL, MySQL or SQLite, and check the variable that it comes from; or enabled: false to run no jobs, or store: 'memory' for a single process";
    placeOf('connection').note(`must be given, got undefined: ${fix}`);
  }
  checkTogether(raw, parsed, placeOf);
  return {
    problems,
    resolved: {
      ...resolved,
      jobs: readOverrides(jobs, problems, read),
      heartbeatIntervalMs: heartbeatIntervalOf(parsed),
      // an empty variable counts as not set
      nodeId: resolved.nodeId ?? toNodeId(variables['POD_NAME'] || hostName || 'unknown-host'),
      enabled: off === undefined,
      disabledBy: off,
      unreadVariables: Object.freeze(read === undefined ? unreadVariables(raw, variables) : []),
    },
  };
}

/**
 * Checks options that need or exclude each other. A wrong one is not compared, so that one mistake is not reported as
 * several.
 */
function checkTogether(raw: Raw, parsed: ParsedOptions, placeOf: (option: string) => Place): void {
  const { connection, heartbeatThread, crashHandover, lockExpiry = MODULE_OPTIONS.lockExpiry.default } = parsed;
  if (crashHandover === true && heartbeatThread === undefined)
    placeOf('crashHandover').note('needs the heartbeat thread: set heartbeatThread: true, or leave it out');
  if (heartbeatThread !== undefined && raw['store'] !== undefined)
    placeOf('heartbeatThread').note('needs a connection, got a store: leave one of the two out');
  else if (heartbeatThread !== undefined) checkThreadConnection(connection, placeOf('connection'));
  const kind = connection === undefined ? 'PostgreSQL' : kindOf(connection);
  const isSql = kind === 'PostgreSQL' || kind === 'MySQL';
  if (raw['schema'] !== undefined && kind !== 'PostgreSQL')
    placeOf('schema').note(`is for PostgreSQL, got a connection to ${kind}: leave it out`);
  if (raw['migrate'] !== undefined && !isSql)
    placeOf('migrate').note(`is for PostgreSQL and MySQL, got a connection to ${kind}: leave it out`);
  const minMs = HEARTBEATS_PER_EXPIRY * heartbeatIntervalOf(parsed);
  const isWrong = (key: 'lockExpiry' | 'heartbeatInterval') => raw[key] !== undefined && parsed[key] === undefined;
  if (lockExpiry >= minMs || isWrong('lockExpiry') || isWrong('heartbeatInterval')) return;
  const expected = `${HEARTBEATS_PER_EXPIRY} × heartbeatInterval (${formatDuration(minMs)})`;
  const got = `${parsed.lockExpiry === undefined ? 'the default of ' : ''}${formatDuration(lockExpiry)}`;
  placeOf('lockExpiry').note(`must be at least ${expected}, got ${got}: raise lockExpiry or lower heartbeatInterval`);
}

/** If it is not set: a quarter of a `lockExpiry` that is shorter than the default. */
function heartbeatIntervalOf({ heartbeatInterval, lockExpiry = Infinity }: ParsedOptions): number {
  const isShort = lockExpiry < MODULE_OPTIONS.lockExpiry.default;
  return heartbeatInterval ?? (isShort ? Math.floor(lockExpiry / 4) : MODULE_OPTIONS.heartbeatInterval.default);
}

/**
 * The variables of options that code leaves unset. Where code sets the option, it may have read the variable by itself.
 */
function unreadVariables(raw: Raw, variables: Variables): readonly string[] {
  const unset = Object.keys(MODULE_OPTIONS).filter((key) => raw[key] === undefined);
  const variableNames = unset.map((key) => `${OPTION_PREFIX}_${optionInVariable(key)}`);
  const isUnread = (name: string): boolean =>
    variableNames.includes(name) || (unset.includes('jobs') && name.startsWith(`${OPTION_PREFIX}_JOBS__`));
  return Object.keys(variables).filter((name) => name !== ENABLED_VARIABLE && variables[name] !== '' && isUnread(name));
}

/** What switches all jobs off. A value that cannot be read also does: it may have been meant to. */
function disabledBy(raw: unknown, enabled: boolean | undefined, variable: string): string | undefined {
  if (!['', 'true'].includes(variable)) return `${ENABLED_VARIABLE}=${variable}`;
  return raw === undefined || enabled === true ? undefined : 'enabled: false';
}
