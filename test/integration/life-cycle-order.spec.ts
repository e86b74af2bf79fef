import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type DynamicModule, Global, Inject, Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { deferred } from '../support/deferred.js';
import { RUNNING, startApplication } from '../support/nest-application.js';
import { Interval, SingletonJobModule } from 'nestjs-singleton-job';

const HOOKS = ['onModuleInit', 'onApplicationBootstrap', 'onModuleDestroy', 'beforeApplicationShutdown'] as const;

/** Notes the provider and the hook for every hook that Nest calls. */
const order: string[] = [];

class Recorder {
  constructor(who: string) {
    for (const hook of HOOKS) Reflect.set(this, hook, () => order.push(`${who} ${hook}`));
  }
}

class Database extends Recorder {
  constructor() {
    super('database');
  }

  query(): void {
    if (order.includes('database onModuleDestroy')) throw new Error('the database is closed');
  }
}

/** A job that uses the database from its beginning to its end, and says how that went. */
@Injectable()
class Report extends Recorder {
  readonly begun = deferred<undefined>();
  readonly ended = deferred<string>();

  constructor(@Inject(Database) private readonly database: Database) {
    super('host');
  }

  @Interval('1h')
  async write(): Promise<void> {
    this.begun.resolve(undefined);
    await new Promise((resolve) => setTimeout(resolve, 30));
    try {
      this.database.query();
      this.ended.resolve('used its database to the end');
    } catch (error: unknown) {
      this.ended.resolve(String(error));
    }
  }
}

@Global()
@Module({ providers: [Database], exports: [Database] })
class DatabaseModule {}

@Module({ imports: [DatabaseModule], providers: [Report] })
class FeatureModule {}

const HOSTS: Record<string, ModuleMetadata> = {
  'the root module': { imports: [DatabaseModule], providers: [Report] },
  'a feature module': { imports: [FeatureModule] },
  'a global module': { imports: [{ module: FeatureModule, global: true }] },
};

function nested(module: DynamicModule): DynamicModule {
  return { module: class OuterModule {}, imports: [{ module: class InnerModule {}, imports: [module] }] };
}

type Imports = NonNullable<ModuleMetadata['imports']>;
const PLACES: Record<string, (module: DynamicModule, others: Imports) => Imports> = {
  first: (module, others) => [module, ...others],
  last: (module, others) => [...others, module],
  nested: (module, others) => [nested(module), ...others],
};

const cases = Object.keys(HOSTS).flatMap((host) => Object.keys(PLACES).map((place) => [host, place] as const));

beforeEach(() => {
  order.length = 0;
  for (const hook of HOOKS) {
    const prototype: Record<(typeof HOOKS)[number], () => unknown> = SingletonJobModule.prototype;
    const original = prototype[hook];
    jest.spyOn(prototype, hook).mockImplementation(async function (this: unknown) {
      order.push(`jobs ${hook}`);
      await original.call(this);
      order.push(`jobs ${hook} done`);
    });
  }
});

afterEach(() => {
  jest.restoreAllMocks();
});

it.each(cases)(
  'with its jobs in %s and imported %s, the module starts after everything else and stops before, with its runs',
  async (host, place) => {
    const module = SingletonJobModule.forRoot(RUNNING);
    const root = HOSTS[host] ?? {};
    const { app } = await startApplication({ ...root, imports: PLACES[place]?.(module, root.imports ?? []) ?? [] });
    const report = app.get(Report, { strict: false });
    await report.begun.promise;
    await app.close();

    const of = (hook: string): string[] => order.filter((entry) => entry.includes(hook));
    for (const hook of HOOKS) {
      const isStart = hook === 'onModuleInit' || hook === 'onApplicationBootstrap';
      expect(of(hook).slice(...(isStart ? [-2] : [0, 2]))).toEqual([`jobs ${hook}`, `jobs ${hook} done`]);
      expect(of(hook)).toHaveLength(4);
    }
    expect(await report.ended.promise).toBe('used its database to the end');
    const modules = [...app.get(ModulesContainer, { strict: false }).values()];
    expect(modules.filter(({ distance }) => distance === 0).map(({ metatype }) => metatype)).toEqual([
      SingletonJobModule,
    ]);
  },
);
