import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Global,
  Inject,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import {
  startLastStopFirst,
  describeJobs,
  type JobDefinition,
  MODULE_MARK,
  findOwnModule,
  resolveExtensions,
} from './discovery/index.js';
import { JobExplorer } from './discovery/job-explorer.js';
import { InvalidJobsError, InvalidOptionsError } from './errors/index.js';
import { LockService } from './lock-service/index.js';
import {
  isRecord,
  type ExtensionClass,
  RESOLVED_OPTIONS,
  type ResolvedOptions,
  resolveOptions,
  SINGLETON_JOB_OPTIONS,
  type SingletonJobOptions,
} from './options/index.js';
import {
  type ApplicationReplica,
  createReplica,
  createStore,
  SingletonJobHealth,
  SingletonJobRegistry,
} from './replica/index.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<SingletonJobOptions>({
  optionsInjectionToken: SINGLETON_JOB_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSingletonJobOptions')
  .build();

type AsyncOptions = ConfigurableModuleAsyncOptions<SingletonJobOptions, 'createSingletonJobOptions'>;

/** What `forRootAsync()` takes: `imports`, and one of `useFactory` (with `inject`), `useClass` and `useExisting`. */
export type SingletonJobAsyncOptions = { [K in keyof AsyncOptions]: AsyncOptions[K] | undefined };

/** Injects the replica of this application. */
const REPLICA = Symbol('replica');

const AFTER_EVERYTHING_ELSE =
  'This version of Nest does not let SingletonJobModule start last and stop first: ' +
  'host jobs in feature modules, and import SingletonJobModule last';

const NO_JOBS =
  'found no jobs: a class with decorated methods must be a provider or a controller of a module that is imported';

const WRONG_IMPORT =
  'They have decorators of @nestjs/schedule, and its ScheduleModule is not imported. ' +
  "To run them on one replica: import { Cron, Interval } from 'nestjs-singleton-job'";

const IN_MEMORY = "store: 'memory' is seen by this process only: with a second replica every job runs twice";

/** Runs the decorated methods of the application. Imported once, in the root module; it is global. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: RESOLVED_OPTIONS,
      // optional, so that a module imported without forRoot() is told so by us
      inject: [{ token: SINGLETON_JOB_OPTIONS, optional: true }],
      useFactory: (raw: unknown) => resolveOptions(raw),
    },
    JobExplorer,
    {
      provide: REPLICA,
      inject: [RESOLVED_OPTIONS],
      useFactory: async (options: ResolvedOptions) =>
        createReplica(options, { store: await createStore(options), log: new Logger('SingletonJob') }),
    },
    { provide: SingletonJobRegistry, inject: [REPLICA], useFactory: ({ registry }: ApplicationReplica) => registry },
    { provide: SingletonJobHealth, inject: [REPLICA], useFactory: ({ health }: ApplicationReplica) => health },
    { provide: LockService, inject: [REPLICA], useFactory: ({ locks }: ApplicationReplica) => locks },
  ],
  exports: [SingletonJobRegistry, SingletonJobHealth, LockService],
})
export class SingletonJobModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  static readonly [MODULE_MARK] = true;

  readonly #logger = new Logger(SingletonJobModule.name);

  constructor(
    @Inject(ModulesContainer) modules: ModulesContainer,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(JobExplorer) private readonly explorer: JobExplorer,
    @Inject(REPLICA) private readonly replica: ApplicationReplica,
  ) {
    super();
    // here and not in a hook: Nest sorts its modules once, at the first hook
    if (!startLastStopFirst(findOwnModule(modules.values()))) this.#logger.warn(AFTER_EVERYTHING_ELSE);
  }

  /** With the options at hand. */
  static override forRoot(options: SingletonJobOptions): DynamicModule {
    return super.forRoot(options);
  }

  /**
   * With options from providers, a class, or the configuration: `forRootAsync(singletonJobConfig.asProvider())`.
   *
   * @throws InvalidOptionsError unless there is one of `useFactory`, `useClass` and `useExisting`
   */
  static override forRootAsync(options: SingletonJobAsyncOptions): DynamicModule {
    const given: Partial<SingletonJobAsyncOptions> = isRecord(options) ? options : {};
    const sources = (['useFactory', 'useClass', 'useExisting'] as const).filter((key) => given[key] !== undefined);
    if (sources.length === 1) return super.forRootAsync(options);
    const [got, fix] =
      sources.length === 0 ? ['none', 'give it one of them, or call forRoot()'] : [sources.join(' and '), 'keep one'];
    const expected = 'one of useFactory, useClass and useExisting';
    throw new InvalidOptionsError([`forRootAsync() must have ${expected}, got ${got}: ${fix}`]);
  }

  async onModuleInit(): Promise<void> {
    const { options, replica } = this;
    const { supervisor } = replica;
    const mistakes: { jobs: string[]; extensions: string[] } = { jobs: [], extensions: [] };
    const registered = supervisor.jobs.map(({ job }) => job);
    const found = this.explorer.explore(registered, mistakes.jobs);
    const lookUp = <T>(extension: ExtensionClass<T>): T => this.moduleRef.get<T>(extension, { strict: false });
    const observers = resolveExtensions(options.observers, { what: 'observers', lookUp }, mistakes.extensions);
    const interceptors = resolveExtensions(options.interceptors, { what: 'interceptors', lookUp }, mistakes.extensions);
    if (mistakes.jobs.length > 0) throw new InvalidJobsError([...mistakes.jobs, ...mistakes.extensions]);
    if (mistakes.extensions.length > 0) throw new InvalidOptionsError(mistakes.extensions);

    await replica.heartbeatThread?.start();
    for (const job of found) supervisor.add(job);
    replica.observers.push(...observers);
    replica.interceptors.push(...interceptors);
    this.#announce([...registered, ...found]);
  }

  #announce(jobs: readonly JobDefinition[]): void {
    const { enabled, disabledBy, store } = this.options;
    const disabled = disabledBy === undefined ? '' : `; ${disabledBy}, none runs`;
    if (jobs.length > 0) this.#logger.log(`found ${describeJobs(jobs)}${disabled}`);
    else if (enabled) this.#logger.warn(NO_JOBS);
    if (enabled && store === 'memory' && jobs.some((job) => job.enabled)) this.#logger.warn(IN_MEMORY);
    this.#announceNestSchedule();
  }

  /** Such a method may have been meant to be a job. */
  #announceNestSchedule(): void {
    const { locations, isModuleImported } = this.explorer.nestScheduleMethods();
    const names = locations.join(', ');
    if (names === '') return;
    if (isModuleImported) this.#logger.log(`these run on every replica, by @nestjs/schedule: ${names}`);
    else this.#logger.warn(`these never run: ${names}. ${WRONG_IMPORT}`);
  }

  onApplicationBootstrap(): void {
    // does nothing after a stop: an HTTP application may be closed while it starts
    this.replica.supervisor.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.replica.supervisor.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.replica.locks.close();
    await this.replica.supervisor.close();
  }
}
