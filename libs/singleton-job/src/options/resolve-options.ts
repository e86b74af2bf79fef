import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { describeValue, isRecord } from '../base/text/describe-value.js';
import { formatDuration } from '../base/text/duration.js';
import { ENABLED_VARIABLE, type Environment, OPTION_PREFIX, processEnvironment } from './environment.js';
import { isPostgres, type ReadConnection } from '../store/open-store.js';
import { MODULE_OPTION_FIXES, MODULE_OPTIONS } from './module-option-table.js';
import { toNodeId } from './names.js';
import { type Given, OptionReader, type Resolved, withDefaults } from './option-reader.js';
import { checkThreadConnection } from './read-heartbeat-thread.js';
import { type Overrides, readOverrides } from './read-overrides.js';
import { optionInVariable, variablesOf } from './variables.js';

type GivenOptions = Given<typeof MODULE_OPTIONS>;

/**
 * The checked options of the module, with every default, and frozen. Durations are in milliseconds, and their names end in `Ms`.
 * Connections, stores, observers and interceptors are the user's objects.
 */
export interface ResolvedOptions extends Omit<Resolved<typeof MODULE_OPTIONS>, 'nodeId' | 'jobs'>, Overrides {
  /** Without the random part. */
  readonly nodeId: string;
  /** Why no job runs: `enabled: false`, or the variable of the environment. Undefined while `enabled` is true. */
  readonly disabledBy: string | undefined;
  /** The variables that look like options and set none, because the options come from code alone. */
  readonly unreadVariables: readonly string[];
  /** Reads `connection` anew. Undefined: it is the same for every client. */
  readonly readConnection?: ReadConnection | undefined;
}

/** A lease outlives two lost heartbeats. */
const HEARTBEATS_PER_EXPIRY = 3;

/**
 * Parses and checks the options of the module, and fills in the defaults. The result is frozen. The object that the user passed is
 * neither changed nor frozen.
 *
 * @throws InvalidOptionsError with every mistake
 */
export function resolveOptions(raw: unknown, environment: Environment = processEnvironment()): ResolvedOptions {
  if (!isRecord(raw)) {
    const fix = 'pass them to SingletonJobModule.forRoot(), or return them from the factory of forRootAsync()';
    throw new InvalidOptionsError([`options must be an object, got ${describeValue(raw)}: ${fix}`]);
  }
  const problems: string[] = [];
  const resolved = read(raw, environment, problems);
  if (problems.length > 0) throw new InvalidOptionsError(problems);
  return Object.freeze(resolved);
}

function read(raw: Readonly<Record<string, unknown>>, environment: Environment, problems: string[]): ResolvedOptions {
  const variables = variablesOf(raw);
  const reader = new OptionReader({ raw, variables }, problems);
  const given = reader.read<typeof MODULE_OPTIONS>(MODULE_OPTIONS, MODULE_OPTION_FIXES);
  const { jobs, ...resolved } = withDefaults(MODULE_OPTIONS, given);
  const { lockExpiry, heartbeatInterval, heartbeatThread } = given;
  const heartbeatIntervalMs =
    lockExpiry === undefined || heartbeatInterval !== undefined
      ? resolved.heartbeatIntervalMs
      : heartbeatIntervalFor(lockExpiry.value);
  const disabledBy = readDisabled(raw['enabled'], given.enabled?.value, environment, problems);

  if (raw['connection'] === undefined && raw['store'] === undefined && disabledBy === undefined) {
    const fix =
      "pass a URL of Redis or PostgreSQL, and check the variable that it comes from; or enabled: false to run no jobs, or store: 'memory' for a single process";
    reader.at('connection').note(`must be given, got undefined: ${fix}`);
  }
  if (given.crashHandover?.value === true && heartbeatThread === undefined)
    reader.at('crashHandover').note('needs the heartbeat thread: set heartbeatThread: true, or leave it out');
  if (heartbeatThread !== undefined && raw['store'] !== undefined) {
    reader.at('heartbeatThread').note('needs a connection, got a store: leave one of the two out');
  } else if (heartbeatThread !== undefined) {
    checkThreadConnection(resolved.connection, reader.at('connection'));
  }
  if (resolved.connection !== undefined && !isPostgres(resolved.connection)) {
    for (const key of ['schema', 'migrate'].filter((name) => raw[name] !== undefined))
      reader.at(key).note('is for PostgreSQL, got a connection to Redis: leave it out');
  }
  checkTimings(raw, given, { ...resolved, heartbeatIntervalMs }, reader);
  return {
    ...resolved,
    heartbeatIntervalMs,
    // an empty variable counts as not set
    nodeId: resolved.nodeId ?? toNodeId(environment.POD_NAME || environment.hostName || 'unknown-host'),
    enabled: disabledBy === undefined,
    disabledBy,
    unreadVariables: variables === undefined ? unreadVariables(raw, environment) : Object.freeze([]),
    ...readOverrides(jobs, variables, problems),
  };
}

/** The variables of options that code leaves unset. Where code sets the option, it may have read the variable by itself. */
function unreadVariables(
  raw: Readonly<Record<string, unknown>>,
  { optionVariables = [] }: Environment,
): readonly string[] {
  const unset = Object.keys(MODULE_OPTIONS).filter((key) => raw[key] === undefined);
  const forms = unset.map((key) => `${OPTION_PREFIX}_${optionInVariable(key)}`);
  const ofJobs = raw['jobs'] === undefined ? `${OPTION_PREFIX}_JOBS__` : undefined;
  const isUnread = (name: string) => forms.includes(name) || (ofJobs !== undefined && name.startsWith(ofJobs));
  return Object.freeze(optionVariables.filter(isUnread));
}

/** What switches all jobs off. A value that cannot be read also does: it may have been meant to. */
function readDisabled(
  raw: unknown,
  enabled: boolean | undefined,
  environment: Environment,
  problems: string[],
): string | undefined {
  const variable = environment[ENABLED_VARIABLE];
  if (variable !== undefined && !['', 'true', 'false'].includes(variable)) {
    const fix = 'set it to false to run no jobs, or unset it';
    problems.push(`${ENABLED_VARIABLE} must be true or false, got ${describeValue(variable)}: ${fix}`);
    return ENABLED_VARIABLE;
  }
  if (variable === 'false') return `${ENABLED_VARIABLE}=false`;
  return raw === undefined || enabled === true ? undefined : 'enabled: false';
}

/** Compares the two durations with each other, defaults included. A wrong one is not compared, so that one mistake is not reported as several. */
function checkTimings(
  raw: Readonly<Record<string, unknown>>,
  given: GivenOptions,
  { heartbeatIntervalMs, lockExpiryMs }: Resolved<Pick<typeof MODULE_OPTIONS, TimingName>>,
  reader: OptionReader,
): void {
  const isWrong = (key: TimingName): boolean => raw[key] !== undefined && given[key] === undefined;
  const leastMs = HEARTBEATS_PER_EXPIRY * heartbeatIntervalMs;
  if (lockExpiryMs >= leastMs || isWrong('heartbeatInterval') || isWrong('lockExpiry')) return;
  const expected = `${HEARTBEATS_PER_EXPIRY} × heartbeatInterval (${formatDuration(leastMs)})`;
  const got = `${given.lockExpiry === undefined ? 'the default of ' : ''}${formatDuration(lockExpiryMs)}`;
  const fix = 'raise lockExpiry or lower heartbeatInterval';
  reader.at('lockExpiry').note(`must be at least ${expected}, got ${got}: ${fix}`);
}

type TimingName = 'heartbeatInterval' | 'lockExpiry';

/** The heartbeat interval if the module sets only `lockExpiry`: a quarter of one that is shorter than the default. */
function heartbeatIntervalFor(lockExpiryMs: number): number {
  const { lockExpiry, heartbeatInterval } = MODULE_OPTIONS;
  return lockExpiryMs < lockExpiry.default ? Math.floor(lockExpiryMs / 4) : heartbeatInterval.default;
}
