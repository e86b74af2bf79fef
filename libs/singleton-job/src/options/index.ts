/** The options of the module and of jobs: types, defaults and checks. */
export { DEFAULTS } from './defaults.js';
export { defaultMisfireGraceMs } from './derived.js';
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
  isArgument,
  misplacedIn,
  ofSchedule,
  OPTION_FIXES,
  optionsOf,
  OVERRIDES,
} from './job-option-table.js';
export { isName, NAME_RULE } from './names.js';
export { OptionReader } from './option-reader.js';
export { readExpiry } from './read-timings.js';
export { resolveJobOptions } from './resolve-job-options.js';
export { MODULE_OPTION_FIXES, MODULE_OPTIONS, resolveOptions } from './resolve-options.js';
export { overridesOf } from './resolve-overrides.js';
export { type ResolvedJobOverrides, type ResolvedOptions } from './resolved-options.js';
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
  jobInVariable,
  optionInVariable,
  optionsOfVariables,
  type OptionVariables,
  type VariableKind,
} from './variables.js';
