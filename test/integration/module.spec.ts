import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { RESOLVED_OPTIONS } from '../../libs/singleton-job/src/options/resolve-options.js';
import { DISABLED, problemsOf, RUNNING, startApplication } from '../support/nest-application.js';
import {
  Cron,
  FixedRate,
  Interval,
  type SingletonJobAsyncOptions,
  SingletonJobModule,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
} from 'nestjs-singleton-job';

@Injectable()
class Settings implements SingletonJobOptionsFactory {
  createSingletonJobOptions(): SingletonJobOptions {
    return { ...DISABLED, projectName: 'from-class' };
  }
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

const CONFIG = ConfigModule.forRoot({ ignoreEnvFile: true, load: [() => ({ name: 'from-service' })] });

type Imports = NonNullable<ModuleMetadata['imports']>;

describe('the module takes its options', () => {
  const literal = SingletonJobModule.forRoot({ ...DISABLED, projectName: 'literal' });
  const fromService = {
    imports: [CONFIG],
    inject: [ConfigService],
    useFactory: async (config: ConfigService) => ({ ...DISABLED, projectName: config.getOrThrow<string>('name') }),
  };

  it.each<[what: string, projectName: string, imports: Imports]>([
    ['a literal, imported in two places', 'literal', [literal, { module: class FeatureModule {}, imports: [literal] }]],
    ['a factory with dependencies', 'from-service', [SingletonJobModule.forRootAsync(fromService)]],
    ['a class that it constructs', 'from-class', [SingletonJobModule.forRootAsync({ useClass: Settings })]],
    [
      'a class that the application has',
      'from-class',
      [SingletonJobModule.forRootAsync({ imports: [SettingsModule], useExisting: Settings })],
    ],
  ])('from %s', async (_what, projectName, imports) => {
    await using started = await startApplication({ imports });
    expect(started.app.get(RESOLVED_OPTIONS, { strict: false })).toMatchObject({ projectName });
  });
});

describe('the module refuses', () => {
  const nothing = { useFactory: () => undefined as unknown as SingletonJobOptions };

  @Module({ imports: [SingletonJobModule.forRoot({ ...DISABLED })] })
  class SecondModule {}

  @Module({ imports: [SingletonJobModule] })
  class BareModule {}

  it.each<[what: string, imports: Imports]>([
    ['to be imported without options', [SingletonJobModule]],
    ['a factory that returns no options', [SingletonJobModule.forRootAsync(nothing)]],
    ['a second forRoot() in one application', [SingletonJobModule.forRoot({ ...DISABLED }), SecondModule]],
    ['the bare class in a feature module, beside forRoot()', [SingletonJobModule.forRoot({ ...DISABLED }), BareModule]],
  ])('%s', async (_what, imports) => {
    expect(await problemsOf(startApplication({ imports }))).toMatchSnapshot();
  });

  it.each([{}, undefined, { imports: [] }, { useFactory: () => DISABLED, useClass: Settings }])(
    'a forRootAsync() unless it has one source, as %j',
    (options) => {
      expect(() => SingletonJobModule.forRootAsync(options as SingletonJobAsyncOptions)).toThrowErrorMatchingSnapshot();
    },
  );

  it('a factory that injects something that no import provides', async () => {
    const module = SingletonJobModule.forRootAsync({ inject: [ConfigService], useFactory: () => DISABLED });
    await expect(startApplication({ imports: [module] })).rejects.toThrow(
      'options of SingletonJobModule; to fix: give forRootAsync() imports with the module that exports what inject names',
    );
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

  class Odd {
    @Cron('* 43 * * * *', { name: 'odd' })
    write(): void {}
  }

  const ALL = { providers: [Jobs] };
  const ELEVEN = Array.from({ length: 11 }, (_, index) => {
    class Job {
      @FixedRate('1h', { name: `job-${index}` })
      tick(): void {}
    }
    return Job;
  });
  const MISSPELT = { SINGLETON_JOBS_ENABLED: 'false' };
  const VARIABLES = {
    SINGLETON_JOB_LOCK_EXPIRY: '20s',
    SINGLETON_JOB_TIME_ZONE: 'UTC',
    SINGLETON_JOB_OTHER: 'x',
    SINGLETON_JOB_JOBS__TICK__PERIOD: '5s',
  };
  const LAMBDA = { AWS_LAMBDA_FUNCTION_NAME: 'shop' };
  const LAMBDA_WITHOUT_JOBS = { ...LAMBDA, SINGLETON_JOB_ENABLED: 'false' };
  const UNKNOWN = { 'price-tik': { period: '1s' }, archive: {} } as const;
  type Variables = Readonly<Record<string, string>>;

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each<[what: string, root: ModuleMetadata, options?: SingletonJobOptions, variables?: Variables]>([
    ['which jobs it found, when they run, where the locks are, and that the memory is no place for those', ALL],
    ['the first ten jobs', { providers: ELEVEN }],
    ['that none of them runs, if they are switched off', ALL, DISABLED],
    ['that it found none', {}],
    ['a variable that may be meant to switch them off', ALL, RUNNING, MISSPELT],
    ['no such variable if they are off', ALL, DISABLED, MISSPELT],
    ['variables of options that come from code', ALL, { ...RUNNING, timeZone: 'UTC' }, VARIABLES],
    ['no variables of what code sets', ALL, { ...RUNNING, timeZone: 'UTC', jobs: {} }, VARIABLES],
    ['no variables of options if the jobs are off', ALL, DISABLED, VARIABLES],
    ['that the platform freezes the process', ALL, RUNNING, LAMBDA],
    ['no word of the platform if a variable switches them off', ALL, RUNNING, LAMBDA_WITHOUT_JOBS],
    ['overrides of unknown jobs, with a suggestion', ALL, { ...DISABLED, jobs: UNKNOWN }],
    ['a cron job that may not run when its author meant it to', { providers: [Odd] }, DISABLED],
  ])('%s', async (_what, root, options = RUNNING, variables = {}) => {
    jest.replaceProperty(process, 'env', { ...process.env, ...variables });
    await using started = await startApplication({ ...root, imports: [SingletonJobModule.forRoot(options)] });
    // the others are of Nest
    expect(started.logger.lines.filter((line) => !line.endsWith(' dependencies initialized'))).toMatchSnapshot();
  });
});
