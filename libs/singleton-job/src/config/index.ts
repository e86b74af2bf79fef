/** The options of the module and of jobs from the environment, for @nestjs/config. */
export { type OptionsFromEnvironment } from './read-variables.js';
export {
  createSingletonJobConfig,
  singletonJobConfig,
  type SingletonJobConfig,
  type SingletonJobConfigOptions,
} from './singleton-job.config.js';
