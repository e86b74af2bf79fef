import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import {
  Cron,
  FixedRate,
  Interval,
  type SingletonJobAsyncOptions,
  SingletonJobModule,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
} from 'nestjs-singleton-job';
import { RESOLVED_OPTIONS } from '../../libs/singleton-job/src/options/tokens.js';
import { DISABLED, problemsOf, startApplication } from '../support/nest-application.js';

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
    [
      'the class alone in a feature module, beside forRoot()',
      [SingletonJobModule.forRoot({ ...DISABLED }), BareModule],
    ],
  ])('%s', async (_what, imports) => {
    expect(await problemsOf(startApplication({ imports }))).toMatchSnapshot();
  });

  it.each<[object | undefined, string]>([
    [{}, 'got none: give it one of them, or call forRoot()'],
    [undefined, 'got none: '],
    [{ imports: [] }, 'got none: '],
    [{ useFactory: () => DISABLED, useClass: Settings }, 'got useFactory and useClass: keep one'],
  ])('a forRootAsync() unless it has one source, as %j', (options, got) => {
    expect(() => SingletonJobModule.forRootAsync(options as SingletonJobAsyncOptions)).toThrow(
      `forRootAsync() must have one of useFactory, useClass and useExisting, ${got}`,
    );
  });

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

  const MEMORY = SingletonJobModule.forRoot({ projectName: 'test', store: 'memory' });

  /** The log of an application, from its start. */
  async function linesOf(root: ModuleMetadata, module = MEMORY): Promise<readonly string[]> {
    await using started = await startApplication({ ...root, imports: [module, ...(root.imports ?? [])] });
    return started.logger.lines;
  }

  it('which jobs it found, when they run, where the locks are, and that the memory is no place for those of replicas', async () => {
    expect(await linesOf({ providers: [Jobs] })).toEqual(
      expect.arrayContaining([
        'log: found 3 jobs on memory: daily-report 0 3 * * * UTC; price-tick every 1h; pulse 10s after each run (disabled)',
        "warn: store: 'memory' is seen by this process only: with a second replica every job runs twice",
      ]),
    );
  });

  it('the first ten jobs, and all of them at debug level', async () => {
    const jobs = Array.from({ length: 11 }, (_, index) => {
      class Job {
        @FixedRate('1h', { name: `job-${index}` })
        tick(): void {}
      }
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
    expect(await linesOf({})).toContainEqual(expect.stringMatching(/^warn: found no jobs: /));
  });
});
