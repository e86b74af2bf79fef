import { type ConfigFactoryKeyHost, registerAs } from '@nestjs/config';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type OptionsFromEnvironment, readVariables } from './variables/read-variables.js';
import { OPTION_PREFIX } from './variables/variables.js';

/** The options of the module and of jobs from the environment, for @nestjs/config. */
export { type OptionsFromEnvironment };

const PREFIX = /^[A-Z][A-Z\d]*(_[A-Z\d]+)*$/;

/** A configuration of `@nestjs/config`, registered as `singletonJob`. */
export type SingletonJobConfig = (() => OptionsFromEnvironment) & ConfigFactoryKeyHost<OptionsFromEnvironment>;

/** How the variables are found. */
export interface SingletonJobConfigOptions {
  /**
   * What the names of the variables begin with, before `_`. Nothing else may use it: a variable that sets no option is
   * an error at start-up. Kubernetes sets `JOBS_PORT` and others for a service that is called `jobs`.
   *
   * @default 'SINGLETON_JOB'
   */
  readonly prefix?: string | undefined;
}

/**
 * The configuration with a prefix of your own: `JOBS_PROJECT_NAME`, `JOBS_JOBS__DAILY_REPORT__CRON`.
 *
 * @example
 * ```ts
 * export const jobsConfig = createSingletonJobConfig({ prefix: 'JOBS' });
 * ```
 */
export function createSingletonJobConfig(options: SingletonJobConfigOptions = {}): SingletonJobConfig {
  const { prefix = OPTION_PREFIX } = options;
  if (!PREFIX.test(prefix)) {
    const problem = `prefix must be capitals and digits with single underscores between them, got '${prefix}'`;
    throw new InvalidOptionsError([`${problem}: write it as in 'JOBS', without one at the end`]);
  }
  return registerAs('singletonJob', () => readVariables(process.env, prefix));
}

/**
 * The options of the module from the variables of the environment:
 *
 * - `SINGLETON_JOB_LOCK_EXPIRY=20s` sets `lockExpiry`. Every option that a text can be has such a variable.
 * - `SINGLETON_JOB_JOBS__DAILY_REPORT__CRON=0 4 * * *` sets `cron` of the job `daily-report`. Its name stands there in
 *   capitals, with `_` for every character that is no letter from A to Z and no digit. The variable wins over `jobs` in
 *   code.
 *
 * A duration is `20s`, or a number of milliseconds. A boolean is `true` or `false`. An empty variable counts as not
 * set. Mistakes are reported at start-up, with the variable's name: a value that its option does not take, a variable
 * of no option, and one that stands for two jobs. A variable of no job is a warning.
 *
 * @example
 * ```ts
 * SingletonJobModule.forRootAsync(singletonJobConfig.asProvider());
 *
 * // with what is no text
 * SingletonJobModule.forRootAsync({
 *   imports: [ConfigModule.forFeature(singletonJobConfig)],
 *   inject: [singletonJobConfig.KEY, Vault],
 *   useFactory: (fromEnvironment: ConfigType<typeof singletonJobConfig>, vault: Vault) => ({
 *     ...fromEnvironment,
 *     connection: vault.redisUrl,
 *   }),
 * });
 * ```
 */
export const singletonJobConfig = createSingletonJobConfig();
