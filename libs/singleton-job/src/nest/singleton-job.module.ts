import {
  type BeforeApplicationShutdown,
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Global,
  Inject,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import { aboutNestSchedule } from '../advice/nest-schedule.js';
import { misspeltVariables, platformFix } from '../advice/variables.js';
import { InvalidJobsError, InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { isClass, isObject } from '../base/text/describe-value.js';
import { detached } from '../base/time/detached.js';
import { SingletonJobRegistry } from '../control/job-registry.js';
import { SingletonJobHealth } from '../control/singleton-job-health.js';
import { createServices, createStore, type Services, SERVICES } from '../create-services.js';
import { type Job } from '../jobs/job.js';
import { LockService } from '../locks/lock.service.js';
import { describeStore } from '../options/connection/describe-connection.js';
import { RESOLVED_OPTIONS, resolveModuleOptions, type ResolvedOptions } from '../options/resolve-options.js';
import { SINGLETON_JOB_OPTIONS, type SingletonJobOptions } from '../options/singleton-job.options.js';
import { ENABLED_VARIABLE } from '../options/variables/variables.js';
import { describeJobs, oddJobs } from './describe-jobs.js';
import { JobExplorer } from './job-explorer.js';
import { watchInitialisation, watchShutdownHooks } from './late-warnings.js';
import { findOwnModule, MODULE_MARK, startLastStopFirst } from './module-distance.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<SingletonJobOptions>({
  optionsInjectionToken: SINGLETON_JOB_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSingletonJobOptions')
  .build();

type Explored = ReturnType<JobExplorer['explore']>;
type AsyncOptions = ConfigurableModuleAsyncOptions<SingletonJobOptions, 'createSingletonJobOptions'>;

/** What `forRootAsync()` takes: `imports`, and one of `useFactory` (with `inject`), `useClass` and `useExisting`. */
export type SingletonJobAsyncOptions = { [K in keyof AsyncOptions]: AsyncOptions[K] | undefined };

const AFTER_EVERYTHING_ELSE =
  'This version of Nest does not let SingletonJobModule start last and stop first: ' +
  'host jobs in feature modules, and import SingletonJobModule last';

const NO_JOBS =
  'found no jobs: no provider or controller of an imported module has a method with @FixedRate, @Interval, @Cron, @WhileLeader or @Once. ' +
  'Add the class that has one to the providers of a module. If you only use LockService, ignore this';

const IN_MEMORY = "store: 'memory' is seen by this process only: with a second replica every job runs twice";

/**
 * Runs the decorated methods of the application. Import it once, in the root module. It is global.
 *
 * @example
 * ```ts
 * @Module({ imports: [SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379' })] })
 * export class AppModule {}
 * ```
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: RESOLVED_OPTIONS,
      // optional, so that the error for a missing forRoot() is ours, not one of Nest
      inject: [ModulesContainer, { token: SINGLETON_JOB_OPTIONS, optional: true }],
      useFactory: (modules: ModulesContainer, raw: unknown) => {
        findOwnModule(modules.values());
        return resolveModuleOptions(raw);
      },
    },
    JobExplorer,
    {
      provide: SERVICES,
      inject: [RESOLVED_OPTIONS],
      useFactory: async (options: ResolvedOptions) =>
        createServices(options, { store: await createStore(options), log: new Logger('SingletonJob') }),
    },
    { provide: SingletonJobRegistry, inject: [SERVICES], useFactory: ({ registry }: Services) => registry },
    { provide: SingletonJobHealth, inject: [SERVICES], useFactory: ({ health }: Services) => health },
    { provide: LockService, inject: [SERVICES], useFactory: ({ locks }: Services) => locks },
  ],
  exports: [RESOLVED_OPTIONS, SERVICES, SingletonJobRegistry, SingletonJobHealth, LockService],
})
export class SingletonJobModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  /** Marks this class as the module for other copies of the library. */
  static readonly [MODULE_MARK] = true;

  readonly #logger = new Logger(SingletonJobModule.name);
  /** Cancels a warning that is to come. */
  #cancelWarning = watchInitialisation(this.#logger);

  /** Called by Nest. @internal */
  constructor(
    @Inject(ModulesContainer) modules: ModulesContainer,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(JobExplorer) private readonly explorer: JobExplorer,
    @Inject(SERVICES) private readonly services: Services,
  ) {
    super();
    // here and not in a hook: Nest sorts its modules once, at the first hook
    if (!startLastStopFirst(findOwnModule(modules.values()))) this.#logger.warn(AFTER_EVERYTHING_ELSE);
  }

  /** Configures the module with these options. */
  static override forRoot(options: SingletonJobOptions): DynamicModule {
    return super.forRoot(options);
  }

  /**
   * Configures the module with options from a factory, a class or `ConfigModule`:
   * `forRootAsync(singletonJobConfig.asProvider())`.
   *
   * @throws InvalidOptionsError unless there is one of `useFactory`, `useClass` and `useExisting`
   */
  static override forRootAsync(options: SingletonJobAsyncOptions): DynamicModule {
    const given: Partial<SingletonJobAsyncOptions> = isObject(options) ? options : {};
    const sources = (['useFactory', 'useClass', 'useExisting'] as const).filter((key) => given[key] !== undefined);
    if (sources.length === 1) return super.forRootAsync(options);
    const expected = 'one of useFactory, useClass and useExisting';
    const [got, fix] =
      sources.length === 0 ? ['none', 'give it one of them, or call forRoot()'] : [sources.join(' and '), 'keep one'];
    throw new InvalidOptionsError([`forRootAsync() must have ${expected}, got ${got}: ${fix}`]);
  }

  /** All providers exist: finds the jobs. */
  async onModuleInit(): Promise<void> {
    this.#cancelWarning();
    const { options, services } = this;
    const { pool } = services;
    const mistakes: { jobs: string[]; interceptors: string[] } = { jobs: [], interceptors: [] };
    const registered = pool.jobs.map(({ job }) => job);
    const { jobs, eventMethods, nestSchedule } = this.explorer.explore(registered, mistakes.jobs);
    const interceptors = options.interceptors.flatMap((one) =>
      isClass(one) ? this.#lookUp(one, mistakes.interceptors) : one,
    );
    if (mistakes.jobs.length > 0) throw new InvalidJobsError([...mistakes.jobs, ...mistakes.interceptors]);
    if (mistakes.interceptors.length > 0) throw new InvalidOptionsError(mistakes.interceptors);

    await detached(() => services.heartbeatThread?.start());
    for (const job of jobs) pool.add(job);
    services.observers.push(...eventMethods);
    services.interceptors.push(...interceptors);
    this.#announce([...registered, ...jobs]);
    this.#announceNestSchedule(nestSchedule, registered.length + jobs.length > 0);
  }

  /** The instance of a class in the options. If the class is no provider or no singleton, that is noted. */
  #lookUp(type: abstract new (...args: never[]) => RunInterceptor, problems: string[]): RunInterceptor[] {
    try {
      return [this.moduleRef.get<RunInterceptor>(type, { strict: false })];
    } catch {
      const fix = `add ${type.name} to the providers of a module, without a scope, or pass an instance`;
      problems.push(`interceptors must be instances or singleton providers, got the class ${type.name}: ${fix}`);
      return [];
    }
  }

  #announce(jobs: readonly Job[]): void {
    const { enabled, disabledBy, store, unreadVariables } = this.options;
    if (jobs.length > 0) {
      const line = describeJobs(jobs, enabled ? describeStore(this.options) : undefined);
      this.#logger.log(`${line}${disabledBy === undefined ? '' : `; ${disabledBy}, none runs`}`);
      for (const line of oddJobs(jobs, Date.now())) this.#logger.log(line);
    }
    if (enabled) for (const line of misspeltVariables(process.env, ENABLED_VARIABLE)) this.#logger.warn(line);
    if (enabled && unreadVariables.length > 0) this.#logger.warn(unread(unreadVariables));
    if (!enabled || !jobs.some((job) => job.enabled)) return;
    const frozen = platformFix(process.env);
    if (frozen !== undefined) this.#logger.warn(frozen);
    if (store === 'memory') this.#logger.warn(IN_MEMORY);
  }

  /**
   * A method of `@nestjs/schedule` may have been meant to be a job. Without one, and without jobs, there may be a
   * mistake too.
   */
  #announceNestSchedule({ methods, isModuleImported }: Explored['nestSchedule'], hasJobs: boolean): void {
    if (methods.length === 0) {
      if (this.options.enabled && !hasJobs) this.#logger.warn(NO_JOBS);
      return;
    }
    this.#logger[hasJobs && isModuleImported ? 'log' : 'warn'](aboutNestSchedule(methods, isModuleImported));
  }

  /** All providers are ready: jobs begin. */
  onApplicationBootstrap(): void {
    // does nothing after a stop: an HTTP application may be closed while it starts
    const { pool } = this.services;
    pool.start();
    if (pool.state !== 'started') return;
    this.#cancelWarning = watchShutdownHooks(() => pool.jobs, this.#logger);
  }

  /** Jobs end first, while what they use is still open. */
  async onModuleDestroy(): Promise<void> {
    this.#cancelWarning();
    await this.services.pool.stop();
  }

  /**
   * `onModuleDestroy` of every provider has run, so none needs a lock any more. Not in a later hook: before that Nest
   * waits for open requests, which may last until SIGKILL.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.services.locks.close();
    await this.services.pool.close();
    await this.services.heartbeatThread?.close();
  }
}

function unread(names: readonly string[]): string {
  const fix = 'Take the options from singletonJobConfig of nestjs-singleton-job/config, or unset them';
  return `the options come from code, so these variables set nothing: ${names.join(', ')}. ${fix}`;
}
