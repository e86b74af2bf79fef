import { InvalidOptionsError } from '../errors/index.js';
import { DEFAULTS } from './defaults.js';
import { describeValue, isRecord } from './describe-value.js';
import { ENABLED_VARIABLE, type Environment, processEnvironment } from './environment.js';
import { isName, isNodeId, NAME_RULE, NODE_ID_RULE, toNodeId } from './names.js';
import { OptionReader } from './option-reader.js';
import { readConnection } from './read-connection.js';
import { readHeartbeatThread } from './read-heartbeat-thread.js';
import { readExtensions } from './read-extensions.js';
import { readStore } from './read-store.js';
import { readTimeZone } from './read-time-zone.js';
import { readTimings } from './read-timings.js';
import { resolveOverrides } from './resolve-overrides.js';
import { type ResolvedOptions } from './resolved-options.js';
import { type SingletonJobOptions } from './singleton-job.options.js';
import { type VariableKinds } from './variables.js';

/** Every option of the module, and how a variable sets it. */
export const MODULE_OPTIONS: VariableKinds<SingletonJobOptions> = {
  projectName: 'text',
  connection: 'text',
  store: 'none',
  heartbeatInterval: 'duration',
  lockExpiry: 'duration',
  maxBackoffDelay: 'duration',
  heartbeatThread: 'boolean',
  nodeId: 'text',
  shutdownTimeout: 'duration',
  timeZone: 'text',
  misfireGrace: 'duration',
  warnAfter: 'duration',
  enabled: 'boolean',
  jobs: 'none',
  ignoreUnknownJobs: 'boolean',
  observers: 'none',
  interceptors: 'none',
  allowInMemoryStore: 'boolean',
};

const IN_CONNECTION = "set connection, as in connection: 'redis://host:6379'";
const FIXED_LIMIT =
  'the limit of heartbeatThread is 20 s, because a leader cannot trust its locks for longer without renewing them';

export const MODULE_OPTION_FIXES = {
  keyPrefix: 'the keys begin with projectName, so set that instead',
  redis: IN_CONNECTION,
  url: IN_CONNECTION,
  host: IN_CONNECTION,
  port: IN_CONNECTION,
  nodes: "the nodes of a cluster belong in connection, as in connection: { nodes: ['redis://host:6379'] }",
  disabled: 'say enabled: false',
  stallLimit: FIXED_LIMIT,
};

/**
 * Parses and checks the options of the module, and fills in the defaults. The result is frozen. The object that the user passed is
 * neither changed nor frozen.
 *
 * @throws InvalidOptionsError with every mistake
 */
export function resolveOptions(raw: unknown, environment: Environment = processEnvironment()): ResolvedOptions {
  if (!isRecord(raw)) throw noOptions(raw);
  const problems: string[] = [];
  const resolved = read(new OptionReader(raw, '', problems), environment, problems);
  if (problems.length > 0) throw new InvalidOptionsError(problems);
  return Object.freeze(resolved);
}

function read(reader: OptionReader, environment: Environment, problems: string[]): ResolvedOptions {
  reader.refuseUnknown(Object.keys(MODULE_OPTIONS), MODULE_OPTION_FIXES);
  const projectName = readProjectName(reader);
  const store = readStore(reader, environment);
  const connection = readConnection(reader, problems);
  const disabledBy = readDisabled(reader, environment, problems);
  const isNowhere = reader.get('connection') === undefined && reader.get('store') === undefined;
  if (isNowhere && disabledBy === undefined) {
    const fix =
      "pass a Redis URL, and check the variable that it comes from; or enabled: false to run no jobs, or store: 'memory' for a single process";
    reader.note('connection', `must be given, got undefined: ${fix}`);
  }

  return {
    projectName,
    connection,
    store,
    ...readTimings(reader),
    heartbeatThread: readHeartbeatThread(reader, connection, problems),
    warnAfterMs: reader.durationOrFalse('warnAfter') ?? DEFAULTS.warnAfterMs,
    nodeId: readNodeId(reader, environment),
    timeZone: readTimeZone(reader) ?? DEFAULTS.timeZone,
    enabled: disabledBy === undefined,
    disabledBy,
    ...resolveOverrides(reader, problems),
    ignoreUnknownJobs: reader.boolean('ignoreUnknownJobs') ?? DEFAULTS.ignoreUnknownJobs,
    observers: readExtensions('observers', reader, problems),
    interceptors: readExtensions('interceptors', reader, problems),
    allowInMemoryStore: reader.boolean('allowInMemoryStore') ?? DEFAULTS.allowInMemoryStore,
  };
}

function readProjectName(reader: OptionReader): string {
  const projectName = reader.get('projectName');
  if (isName(projectName)) return projectName;
  reader.refuse('projectName', NAME_RULE, "call it after the application, as in 'myapp'");
  return '';
}

/** What switches all jobs off. A value that cannot be read also does: it may have been meant to. */
function readDisabled(reader: OptionReader, environment: Environment, problems: string[]): string | undefined {
  const variable = environment[ENABLED_VARIABLE];
  const enabled = reader.boolean('enabled');
  if (variable !== undefined && !['', 'true', 'false'].includes(variable)) {
    const fix = 'set it to false to run no jobs, or unset it';
    problems.push(`${ENABLED_VARIABLE} must be true or false, got ${describeValue(variable)}: ${fix}`);
    return ENABLED_VARIABLE;
  }
  if (variable === 'false') return `${ENABLED_VARIABLE}=false`;
  const isMistake = enabled === undefined && reader.get('enabled') !== undefined;
  return isMistake || !(enabled ?? DEFAULTS.enabled) ? 'enabled: false' : undefined;
}

function readNodeId(reader: OptionReader, environment: Environment): string {
  const fix = 'leave it out to use POD_NAME or the name of the host; a random part is appended';
  const given = reader.checked('nodeId', isNodeId, { expected: NODE_ID_RULE, fix });
  // an empty variable counts as not set
  return given ?? toNodeId(environment.POD_NAME || environment.hostName || 'unknown-host');
}

function noOptions(raw: unknown): InvalidOptionsError {
  const fix = 'pass them to SingletonJobModule.forRoot(), or return them from the factory of forRootAsync()';
  return new InvalidOptionsError([`options must be an object, got ${describeValue(raw)}: ${fix}`]);
}
