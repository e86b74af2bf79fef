import { describe, expect, it, jest } from '@jest/globals';
import { Inject, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { ConfigModule, ConfigService, registerAs } from '@nestjs/config';
import { ContextIdFactory, ModuleRef, REQUEST } from '@nestjs/core';
import { Interval as NestInterval, ScheduleModule, Timeout as NestTimeout } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import {
  Cron,
  duration,
  FixedRate,
  Interval,
  type JobObserver,
  type JobRun,
  SINGLETON_JOB_OPTIONS,
  type SingletonJobAsyncOptions,
  SingletonJobModule,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
  SingletonJobRegistry,
} from 'nestjs-singleton-job';
import { type ResolvedOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { RESOLVED_OPTIONS } from '../../libs/singleton-job/src/options/tokens.js';
import { until } from '../../tools/replicas/until.js';
import { deferred } from '../support/deferred.js';
import { DISABLED, problemsOf, startApplication, startDisabled } from '../support/nest-application.js';
import { RecordingStore } from '../support/recording-store.js';

@Injectable()
class Settings implements SingletonJobOptionsFactory {
  createSingletonJobOptions(): SingletonJobOptions {
    return { ...DISABLED, projectName: 'from-class' };
  }
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

const configuration = registerAs('singletonJob', () => ({
  ...DISABLED,
  projectName: 'from-config',
  lockExpiry: duration('20s'),
}));

const CONFIG = ConfigModule.forRoot({ ignoreEnvFile: true, load: [configuration, () => ({ name: 'from-service' })] });

async function projectNameOf(...imports: NonNullable<ModuleMetadata['imports']>): Promise<string> {
  await using started = await startApplication({ imports });
  return started.app.get<ResolvedOptions>(RESOLVED_OPTIONS, { strict: false }).projectName;
}

describe('the module takes its options', () => {
  it('from a literal', async () => {
    expect(await projectNameOf(SingletonJobModule.forRoot({ ...DISABLED, projectName: 'literal' }))).toBe('literal');
  });

  it('from a factory with dependencies', async () => {
    const module = SingletonJobModule.forRootAsync({
      imports: [CONFIG],
      inject: [ConfigService],
      useFactory: async (config: ConfigService) => ({ ...DISABLED, projectName: config.getOrThrow<string>('name') }),
    });

    expect(await projectNameOf(module)).toBe('from-service');
  });

  it('from a class that it constructs', async () => {
    expect(await projectNameOf(SingletonJobModule.forRootAsync({ useClass: Settings }))).toBe('from-class');
  });

  it('from a class that the application has', async () => {
    const module = SingletonJobModule.forRootAsync({ imports: [SettingsModule], useExisting: Settings });

    expect(await projectNameOf(module)).toBe('from-class');
  });

  it('from a registered configuration', async () => {
    expect(await projectNameOf(CONFIG, SingletonJobModule.forRootAsync(configuration.asProvider()))).toBe(
      'from-config',
    );
  });

  it('from an overridden provider in a test', async () => {
    const asynchronous = SingletonJobModule.forRootAsync({
      useFactory: () => ({ projectName: 'live', connection: 'redis://127.0.0.1:1' }),
    });
    const app = await Test.createTestingModule({ imports: [asynchronous] })
      .overrideProvider(SINGLETON_JOB_OPTIONS)
      .useValue({ projectName: 'test', enabled: false })
      .compile();
    await app.init();

    expect(app.get<ResolvedOptions>(RESOLVED_OPTIONS)).toMatchObject({ projectName: 'test', enabled: false });
    await app.close();
  });
});

describe('the module refuses', () => {
  it('to be imported without options', async () => {
    expect(await problemsOf(startApplication({ imports: [SingletonJobModule] }))).toMatchSnapshot();
  });

  it('a factory that returns no options', async () => {
    const module = SingletonJobModule.forRootAsync({ useFactory: () => undefined as unknown as SingletonJobOptions });
    expect(await problemsOf(startApplication({ imports: [module] }))).toMatchSnapshot();
  });

  it.each([[{}], [undefined], [{ imports: [] }]])('a forRootAsync() without a source, as with %j', (options) => {
    expect(() => SingletonJobModule.forRootAsync(options as SingletonJobAsyncOptions)).toThrow(
      'forRootAsync() must have one of useFactory, useClass and useExisting, got none: ' +
        'give it one of them, or call forRoot()',
    );
  });

  it('a factory that injects something that no import provides', async () => {
    const module = SingletonJobModule.forRootAsync({ inject: [ConfigService], useFactory: () => DISABLED });

    await expect(startApplication({ imports: [module] })).rejects.toThrow(
      'options of SingletonJobModule; to fix: give forRootAsync() imports with the module that exports what inject names',
    );
  });

  it('a forRootAsync() with two sources', () => {
    expect(() => SingletonJobModule.forRootAsync({ useFactory: () => DISABLED, useClass: Settings })).toThrow(
      'forRootAsync() must have one of useFactory, useClass and useExisting, got useFactory and useClass: keep one',
    );
  });

  it('a second forRoot() in one application', async () => {
    @Module({ imports: [SingletonJobModule.forRoot({ ...DISABLED })] })
    class FeatureModule {}

    expect(await problemsOf(startDisabled({ imports: [FeatureModule] }))).toMatchSnapshot();
  });

  it('the class alone in a feature module, beside forRoot() in the root module', async () => {
    @Module({ imports: [SingletonJobModule] })
    class FeatureModule {}

    expect(await problemsOf(startDisabled({ imports: [FeatureModule] }))).toMatchSnapshot();
  });

  it('the module of a second copy of the package', async () => {
    @Module({})
    class CopyModule {}
    Reflect.set(CopyModule, Symbol.for('nestjs-singleton-job:module'), true);

    expect(await problemsOf(startDisabled({ imports: [CopyModule] }))).toEqual([
      expect.stringMatching(
        /^SingletonJobModule must be imported once, got it in AppModule without options and in App/,
      ),
    ]);
  });
});

describe('the module logs at the start', () => {
  class Jobs {
    @Cron('0 3 * * *', { name: 'daily-report' })
    report(): void {}

    @FixedRate('1h', { name: 'price-tick' })
    tick(): void {}

    @Interval('10s', { name: 'pulse', enabled: false })
    beat(): void {}
  }

  const MEMORY = SingletonJobModule.forRoot({ projectName: 'test', store: 'memory' });

  /** The log of an application, from its start. */
  async function linesOf(root: ModuleMetadata, module = MEMORY): Promise<readonly string[]> {
    await using started = await startApplication({ ...root, imports: [module, ...(root.imports ?? [])] });
    return started.logger.lines;
  }

  it('which jobs it found, when they run, and where the locks are', async () => {
    expect(await linesOf({ providers: [Jobs] })).toContain(
      'log: found 3 jobs on memory: daily-report 0 3 * * * UTC; price-tick every 1h; pulse 10s after each run (disabled)',
    );
  });

  it('the first ten jobs, and all of them at debug level', async () => {
    const jobs = Array.from({ length: 11 }, (_, index) => {
      class Job {
        tick(): void {}
      }
      const descriptor = Object.getOwnPropertyDescriptor(Job.prototype, 'tick') as TypedPropertyDescriptor<() => void>;
      FixedRate('1h', { name: `job-${index}` })(Job.prototype, 'tick', descriptor);
      return Job;
    });
    const lines = await linesOf({ providers: jobs });

    expect(lines).toContainEqual(
      expect.stringMatching(/^log: found 11 jobs on memory: job-0 every 1h; .*; job-9 every 1h; and 1 more$/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^debug: all 11 jobs: job-0 .*; job-10 every 1h$/));
  });

  it('that none of them runs, if they are switched off', async () => {
    expect(await linesOf({ providers: [Jobs] }, SingletonJobModule.forRoot(DISABLED))).toContain(
      'log: found 3 jobs: daily-report 0 3 * * * UTC; price-tick every 1h; pulse 10s after each run (disabled); ' +
        'enabled: false, none runs',
    );
  });

  it('that none of them runs, if the environment switches them off', async () => {
    process.env['SINGLETON_JOB_ENABLED'] = 'false';
    try {
      const module = SingletonJobModule.forRoot({ projectName: 'test', connection: 'redis://127.0.0.1:1' });
      await using started = await startApplication({ imports: [module], providers: [Jobs] });

      expect(started.logger.lines.at(-1)).toMatch(/^log: found 3 jobs: .*; SINGLETON_JOB_ENABLED=false, none runs$/);
      expect(started.app.get(SingletonJobRegistry).get('price-tick').role).toBe('disabled');
    } finally {
      delete process.env['SINGLETON_JOB_ENABLED'];
    }
  });

  it('a variable that may be meant to switch them off', async () => {
    process.env['SINGLETON_JOBS_ENABLED'] = 'false';
    try {
      const warning =
        'warn: SINGLETON_JOBS_ENABLED is set, and SINGLETON_JOB_ENABLED is not: ' +
        'to switch all jobs off, set SINGLETON_JOB_ENABLED=false';
      expect(await linesOf({ providers: [Jobs] })).toContain(warning);
      expect(await linesOf({ providers: [Jobs] }, SingletonJobModule.forRoot(DISABLED))).not.toContain(warning);
    } finally {
      delete process.env['SINGLETON_JOBS_ENABLED'];
    }
  });

  it('variables of options that come from code, unless code sets the same', async () => {
    const { env } = process;
    process.env = {
      ...env,
      SINGLETON_JOB_LOCK_EXPIRY: '20s',
      SINGLETON_JOB_TIME_ZONE: 'UTC',
      SINGLETON_JOB_OTHER: 'x',
      SINGLETON_JOB_JOBS__TICK__PERIOD: '5s',
    };
    const warningFor = async (options: Partial<SingletonJobOptions>) => {
      const module = SingletonJobModule.forRoot({ projectName: 'test', store: 'memory', timeZone: 'UTC', ...options });
      const lines = await linesOf({ providers: [Jobs] }, module);
      return lines.flatMap(
        (line) => /: the options come from code, so these variables set nothing: (.*?)\./.exec(line)?.[1] ?? [],
      );
    };
    try {
      expect(await warningFor({})).toEqual(['SINGLETON_JOB_LOCK_EXPIRY, SINGLETON_JOB_JOBS__TICK__PERIOD']);
      expect(await warningFor({ jobs: {} })).toEqual(['SINGLETON_JOB_LOCK_EXPIRY']);
      expect(await warningFor({ enabled: false })).toEqual([]);
    } finally {
      process.env = env;
    }
  });

  it('that it found none', async () => {
    const lines = await linesOf({});

    expect(lines.filter((line) => line.startsWith('warn: '))).toEqual([
      expect.stringMatching(/^warn: found no jobs: .* Add the class that has one to the providers of a module\./),
    ]);
  });

  it.each([
    [
      'these never run: Timers.beat. They have decorators of @nestjs/schedule, and its ScheduleModule is not imported',
      [],
    ],
    ['these run on every replica, by @nestjs/schedule: Timers.beat', [ScheduleModule.forRoot()]],
  ])('one warning that only the import is wrong: %s', async (warning, imports) => {
    class Timers {
      @NestInterval(1_000_000)
      beat(): void {}
    }
    const lines = await linesOf({ providers: [Timers], imports });

    expect(lines.filter((line) => line.startsWith('warn: '))).toEqual([expect.stringContaining(warning)]);
  });

  it('what to do with a @Timeout of @nestjs/schedule, also beside an @Interval', async () => {
    class WarmUp {
      @NestTimeout(1_000_000)
      warmUp(): void {}
    }
    class Beat {
      @NestInterval(1_000_000)
      beat(): void {}
    }
    const [belongs, imports] = ['belongs in onApplicationBootstrap()', 'import { Cron, Interval }'];
    const aboutBoth = await linesOf({ providers: [WarmUp, Beat] });
    expect(aboutBoth).toContainEqual(expect.stringContaining(belongs));
    expect(aboutBoth).toContainEqual(expect.stringContaining(imports));
    const aboutOne = await linesOf({ providers: [WarmUp] });
    expect(aboutOne).toContainEqual(expect.stringContaining(belongs));
    expect(aboutOne).not.toContainEqual(expect.stringContaining(imports));
  });
});

describe('the module accepts', () => {
  it('to be imported in two places by one dynamic module', async () => {
    const once = SingletonJobModule.forRoot(DISABLED);

    @Module({ imports: [once] })
    class FeatureModule {}

    expect(await problemsOf(startApplication({ imports: [once, FeatureModule] }))).toEqual([]);
  });

  it('a second application in the same process', async () => {
    await using first = await startDisabled({});
    await using second = await startDisabled({});

    expect(first.app).not.toBe(second.app);
  });

  it('to be closed twice', async () => {
    const started = await startApplication({
      imports: [SingletonJobModule.forRoot({ projectName: 'test', store: 'memory' })],
    });

    await started.app.close();
    await expect(started.app.close()).resolves.toBeUndefined();
  });
});

describe('a job that resolves a provider in each run', () => {
  @Injectable({ scope: Scope.REQUEST })
  class Invoices {
    constructor(@Inject(REQUEST) readonly request: unknown) {}
  }

  @Injectable({ scope: Scope.TRANSIENT })
  class Mailer {}

  @Injectable()
  class InvoiceJobs {
    readonly made: unknown[] = [];

    constructor(private readonly moduleRef: ModuleRef) {}

    @FixedRate('20ms')
    async send(run: JobRun): Promise<void> {
      const context = ContextIdFactory.create();
      this.moduleRef.registerRequestByContextId(run, context);
      const invoices = await this.moduleRef.resolve(Invoices, context, { strict: false });
      const mailer = await this.moduleRef.resolve(Mailer, undefined, { strict: false });
      this.made.push(invoices, mailer, invoices.request === run);
    }
  }

  it('gets new instances, with the request that it registered', async () => {
    await using started = await startApplication({
      imports: [SingletonJobModule.forRoot({ projectName: 'test', store: 'memory' })],
      providers: [InvoiceJobs, Invoices, Mailer],
    });
    const { made } = started.app.get(InvoiceJobs);
    await until('two runs', () => made.length >= 6);
    expect([made[2], made[5]]).toEqual([true, true]);
    expect(new Set([made[0], made[1], made[3], made[4]]).size).toBe(4);
  });
});

describe('observers', () => {
  class Prices {
    @FixedRate('20ms')
    tick(): void {}
  }

  it('are called', async () => {
    const runStarted = deferred<unknown>();
    const observers: JobObserver[] = [{ runStarted: runStarted.resolve }];
    const module = SingletonJobModule.forRoot({ projectName: 'test', store: 'memory', observers });
    await using started = await startApplication({ imports: [module], providers: [Prices] });

    expect(started.logger.lines).toContain(
      "warn: store: 'memory' is seen by this process only: with a second replica every job runs twice",
    );
    expect(await runStarted.promise).toMatchObject({ job: 'Prices.tick' });
  });
});

describe('enabled: false', () => {
  it('finds and checks the jobs, runs none, and does not use the store', async () => {
    const tick = jest.fn();
    class Prices {
      @FixedRate('1ms')
      tick(): void {
        tick();
      }
    }
    const store = new RecordingStore();
    const started = await startDisabled({ providers: [Prices] }, { store });
    expect(started.jobs()).toHaveLength(1);
    await started.app.close();

    expect(store.calls).toEqual([]);
    expect(tick).not.toHaveBeenCalled();
  });
});
