/** The options of the module and of jobs: types, defaults and checks. */
export { describeStore } from './describe-connection.js';
export { describeValue, isClass, isRecord, listSome } from './describe-value.js';
export { type Duration, formatDuration } from './duration.js';
export { ENABLED_VARIABLE, misspeltVariables } from './environment.js';
export {
  type CronOptions,
  type FixedRateOptions,
  type IntervalOptions,
  type JobOptions,
  type JobOverrides,
  type Overlap,
} from './job.options.js';
export {
  argumentOf,
  type GivenJobOptions,
  JOB_OPTIONS,
  OPTION_FIXES,
  optionsOf,
  OVERRIDES,
  rowsOf,
} from './job-option-table.js';
export { MODULE_OPTION_FIXES, MODULE_OPTIONS } from './module-option-table.js';
export { isName, NAME_RULE } from './names.js';
export { OptionReader, type OptionRow, type OptionTable, Place, readOption, withDefaults } from './option-reader.js';
export { overridesOf, readJobOptions } from './read-overrides.js';
export { duration, expiry, matching } from './readers.js';
export { type ResolvedOptions, resolveOptions } from './resolve-options.js';
export {
  type HeartbeatThreadOptions,
  type InterceptorClass,
  type ObserverClass,
  type ExtensionClass,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
} from './singleton-job.options.js';
export { didYouMean, suggest } from './suggest.js';
export { RESOLVED_OPTIONS, SINGLETON_JOB_OPTIONS } from './tokens.js';
export {
  FROM_VARIABLES,
  jobInVariable,
  optionInVariable,
  type OptionVariables,
  type VariableKind,
} from './variables.js';
