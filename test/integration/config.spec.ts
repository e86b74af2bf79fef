import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule, type ConfigType } from '@nestjs/config';
import { RESOLVED_OPTIONS, type ResolvedOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { problemsOf, startApplication } from '../support/nest-application.js';
import { Cron, SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';
import { createSingletonJobConfig, singletonJobConfig } from 'nestjs-singleton-job/config';

class Report {
  @Cron('0 3 * * *', { name: 'daily-report' })
  write(): void {}
}

class OtherReport {
  @Cron('0 3 * * *', { name: 'daily_report' })
  write(): void {}
}

@Injectable()
class Vault {
  readonly url = 'redis://vault:6379';
}

@Module({ providers: [Vault], exports: [Vault] })
class VaultModule {}

const before = { ...process.env };

/** Sets variables of the environment for one test. No job runs. */
function setEnvironment(variables: Readonly<Record<string, string>>, prefix = 'SINGLETON_JOB_'): void {
  const all = { PROJECT_NAME: 'shop', CONNECTION: 'redis://127.0.0.1:1', ...variables };
  const prefixed = Object.entries(all).map(([name, text]) => [`${prefix}${name}`, text]);
  Object.assign(process.env, Object.fromEntries(prefixed), { SINGLETON_JOB_ENABLED: 'false' });
}

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
});

/** What the module starts with. */
async function optionsOf(...imports: NonNullable<ModuleMetadata['imports']>): Promise<ResolvedOptions> {
  await using started = await startApplication({ imports, providers: [Report] });
  return started.app.get<ResolvedOptions>(RESOLVED_OPTIONS, { strict: false });
}

describe('the configuration', () => {
  it('is that of the module, without a factory', async () => {
    setEnvironment({ LOCK_EXPIRY: '20s', JOBS__DAILY_REPORT__CRON: '0 4 * * *' });
    const root = ConfigModule.forRoot({ ignoreEnvFile: true, load: [singletonJobConfig] });
    const options = await optionsOf(root, SingletonJobModule.forRootAsync(singletonJobConfig.asProvider()));

    expect(options).toMatchObject({
      projectName: 'shop',
      lockExpiryMs: 20_000,
      disabledBy: 'SINGLETON_JOB_ENABLED=false',
    });
  });

  it('can have another prefix, and be combined with options of a factory', async () => {
    setEnvironment({ CONNECTION: '', LOCK_EXPIRY: '20s' }, 'APP_');
    const config = createSingletonJobConfig({ prefix: 'APP' });
    const module = SingletonJobModule.forRootAsync({
      imports: [ConfigModule.forFeature(config), VaultModule],
      inject: [config.KEY, Vault],
      useFactory: (fromVariables: ConfigType<typeof config>, vault: Vault) => ({
        ...fromVariables,
        connection: vault.url,
      }),
    });

    expect(await optionsOf(module)).toMatchObject({ connection: 'redis://vault:6379', lockExpiryMs: 20_000 });
  });

  it.each(['', 'JOBS_', 'jobs', 'A__B'])('cannot have a prefix such as %j', (prefix) => {
    expect(() => createSingletonJobConfig({ prefix })).toThrow('prefix must be capitals and digits');
  });
});

describe('the variable of a job', () => {
  it('is named in a warning if no job has its name', async () => {
    setEnvironment({ JOBS__DAILY_REPORTS__CRON: '0 4 * * *' });
    const module = SingletonJobModule.forRootAsync(singletonJobConfig.asProvider());
    await using application = await startApplication({ imports: [module], providers: [Report] });

    expect(application.logger.lines).toContain(
      'warn: SINGLETON_JOB_JOBS__DAILY_REPORTS is no job of this application, ' +
        "so it changes nothing: did you mean 'DAILY_REPORT'?",
    );
  });

  it('is refused if two jobs have its name, of which one may be registered later', async () => {
    setEnvironment({ JOBS__DAILY_REPORT__CRON: '0 4 * * *' });
    const module = SingletonJobModule.forRootAsync(singletonJobConfig.asProvider());
    const starting = startApplication({ imports: [module], providers: [Report, OtherReport] });
    expect(await problemsOf(starting)).toMatchSnapshot();
    await using application = await startApplication({ imports: [module], providers: [Report] });
    const registry = application.app.get(SingletonJobRegistry);
    expect(() => {
      registry.register({ name: 'daily_report', schedule: { cron: '0 5 * * *' }, run: () => undefined });
    }).toThrow(
      'SINGLETON_JOB_JOBS__DAILY_REPORT must be one job of this application, got daily-report and daily_report',
    );
  });
});
