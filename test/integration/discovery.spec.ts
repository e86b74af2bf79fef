import { describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Inject,
  Injectable,
  mixin,
  Module,
  type ModuleMetadata,
  Scope,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Cron as NestCron, Interval as NestInterval, ScheduleModule } from '@nestjs/schedule';
import { Cron, FixedRate, Interval, type JobRun, SingletonJobModule, WhileLeader } from 'nestjs-singleton-job';
import { FakeRun } from 'nestjs-singleton-job/testing';
import {
  DISABLED,
  problemsOf,
  RecordingLogger,
  type StartedApplication,
  startDisabled,
} from '../support/nest-application.js';

@Injectable()
class Prices {
  readonly ticks: unknown[] = [];

  @FixedRate('500ms', { name: 'price-tick' })
  tick(run?: JobRun): number {
    return this.ticks.push(run);
  }
}

function namesOf(started: StartedApplication): string[] {
  return started.jobs().map(({ name }) => name);
}

type Row = readonly [what: string, root: ModuleMetadata, names?: readonly string[]];

const AGAIN = { provide: 'AGAIN', useFactory: (prices: Prices) => prices, inject: [Prices] };
const PRICES = new Prices();

@Module({ providers: [Prices] })
class PricesModule {}

@Module({ imports: [PricesModule] })
class OtherModule {}

abstract class Importer {
  @FixedRate('1s')
  pull(): string {
    return 'base';
  }
}
class Orders extends Importer {}
class Users extends Importer {
  override pull(): string {
    return 'override';
  }
}

@Controller()
class Health {
  @Interval('1s')
  beat(): void {}
}

class Lazy extends Prices {
  get connection(): never {
    throw new Error('a getter was read');
  }
}

const NO_OBJECTS = [null, 'text', 5, Object.create(null) as unknown, () => undefined];

describe('the jobs of an application are found in', () => {
  it.each<Row>([
    ['a provider', { providers: [Prices] }],
    ['a controller', { controllers: [Health] }, ['Health.beat']],
    ['a provider with an alias, once', { providers: [Prices, { provide: 'ALIAS', useExisting: Prices }] }],
    [
      'one instance under two tokens, once',
      { providers: ['ONE', 'TWO'].map((provide) => ({ provide, useValue: PRICES })) },
    ],
    ['a class that one module lists twice, once', { providers: [Prices, Prices] }],
    ['a factory that returns another provider, once', { providers: [Prices, AGAIN] }],
    ['a module that is imported in two places, once', { imports: [PricesModule, OtherModule] }],
    ['each class that inherits them', { providers: [Orders, Users] }, ['Orders.pull', 'Users.pull']],
    ['a provider with a getter, which is not read', { providers: [Lazy] }],
    [
      'no provider that is no object',
      { providers: NO_OBJECTS.map((useValue, index) => ({ provide: String(index), useValue })) },
      [],
    ],
  ])('%s', async (_what, root, names = ['price-tick']) => {
    await using started = await startDisabled(root);
    expect(namesOf(started)).toEqual(names);
  });

  it('an overridden method: without a decorator of its own it has that of the base', async () => {
    class Slow extends Importer {
      @FixedRate('1m')
      override pull(): string {
        return 'slow';
      }
    }
    await using started = await startDisabled({ providers: [Users, Slow] });
    expect(started.jobs().map((job) => [job.schedule.description, job.invoke(new FakeRun())])).toEqual([
      ['fixed-rate 1000ms offset 0ms', 'override'],
      ['fixed-rate 60000ms offset 0ms', 'slow'],
    ]);
  });
});

describe('methods with decorators of @nestjs/schedule are named at the start', () => {
  class Timers {
    @NestInterval(1_000_000)
    overridden(): void {}

    @NestInterval(1_000_000)
    inherited(): void {}
  }

  @Injectable()
  class Mixed extends Timers {
    @FixedRate('1s')
    ours(): void {}

    @NestCron('0 3 1 1 *')
    theirs(): void {}

    override overridden(): void {}
  }

  @Controller()
  class Probes {
    @NestInterval(1_000_000)
    beat(): void {}
  }

  @Injectable({ scope: Scope.REQUEST })
  class PerRequest {
    @NestInterval(1_000_000)
    tick(): void {}
  }

  const providers = [Mixed, Timers, { provide: 'AGAIN', useClass: Timers }, PerRequest];

  async function linesAbout(...imports: NonNullable<ModuleMetadata['imports']>): Promise<readonly string[]> {
    await using started = await startDisabled({ imports, providers, controllers: [Probes] });
    expect(namesOf(started)).toEqual(['Mixed.ours']);
    return started.logger.lines.filter((line) => line.includes('@nestjs/schedule'));
  }

  it.each([
    ['without a ScheduleModule', []],
    ['with a ScheduleModule of its own', [class ScheduleModule {}]],
  ])('as never run, with the right import, %s', async (_, imports) => {
    expect(await linesAbout(...imports)).toMatchSnapshot();
  });

  it.each([
    ['forRoot()', ScheduleModule.forRoot()],
    ['forRootAsync()', ScheduleModule.forRootAsync({ useFactory: () => ({}) })],
  ])('as run on every replica with %s', async (_, module) => {
    expect(await linesAbout(module)).toMatchSnapshot();
  });
});

describe('the application does not start with', () => {
  class Quotes {
    @Interval('1s', { name: 'price-tick' })
    poll(): void {}
  }

  abstract class Named {
    @FixedRate('1s', { name: 'pull' })
    pull(): void {}
  }
  class First extends Named {}
  class Second extends Named {}

  class Cart {
    @FixedRate('1s')
    sweep(): void {}
  }

  @Injectable({ scope: Scope.REQUEST })
  class RequestCart extends Cart {}

  @Injectable({ scope: Scope.TRANSIENT })
  class TransientCart extends Cart {}

  @Injectable()
  class DependentCart extends Cart {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  const factory = (rest: object) => ({ provide: Cart, useFactory: () => new Cart(), ...rest });

  const minified = (name?: string): Type => {
    class t {
      @FixedRate('1s', { name })
      tick(): void {}
    }
    return t;
  };
  const mixedIn = (name?: string): Type => {
    class PricesMixin {
      @FixedRate('1s', { name })
      tick(): void {}
    }
    return mixin(PricesMixin);
  };

  it.each<readonly [what: string, root: ModuleMetadata]>([
    ['a class that two modules provide', { imports: [PricesModule], providers: [Prices] }],
    ['a class under two tokens of one module', { providers: [Prices, { provide: 'X', useClass: Prices }] }],
    ['two jobs of one name', { providers: [Prices, Quotes] }],
    ['two jobs of one inherited method with a name', { providers: [First, Second] }],
    ['a request-scoped job', { providers: [RequestCart] }],
    ['a job that depends on something request-scoped', { providers: [DependentCart] }],
    ['a transient job', { providers: [TransientCart] }],
    ['a job of a request-scoped factory', { providers: [factory({ scope: Scope.REQUEST })] }],
    ['a job of a transient factory', { providers: [factory({ scope: Scope.TRANSIENT })] }],
    ['a job of a factory that depends on the request', { providers: [factory({ inject: [REQUEST] })] }],
    ['a class with a name of a minifier', { providers: [minified()] }],
    ['a class with a name of mixin()', { providers: [mixedIn()] }],
    ['two classes of mixin() with one name for their jobs', { providers: [mixedIn('tick'), mixedIn('tick')] }],
    ['a class without a name', { providers: [(() => class extends Cart {})()] }],
  ])('%s', async (_what, root) => {
    expect(await problemsOf(startDisabled(root))).toMatchSnapshot();
  });

  it('no class whose name does not last, if the job has a name', async () => {
    const providers = [minified('price-tick'), mixedIn('quotes')];
    expect(await problemsOf(startDisabled({ providers }))).toEqual([]);
  });

  it('a nameless job, in the form of its decorator', async () => {
    class t {
      @WhileLeader()
      consume(): void {}
    }
    const [problem] = await problemsOf(startDisabled({ providers: [t] }));
    expect(problem).toContain("name the job, as in @WhileLeader('order-feed')");
  });
});

describe('a provider that a test replaces', () => {
  it('has no jobs, which is no mistake for their overrides', async () => {
    const imports = [SingletonJobModule.forRoot({ ...DISABLED, jobs: { 'price-tick': { period: '1s' } } })];
    const app = await Test.createTestingModule({ imports, providers: [Prices] })
      .overrideProvider(Prices)
      .useValue({ tick: () => undefined })
      .setLogger(new RecordingLogger())
      .compile();

    await expect(app.init()).resolves.toBe(app);
    await app.close();
  });
});

describe('discovery', () => {
  it('looks up a method when it runs, so that a spy is called', async () => {
    await using started = await startDisabled({ providers: [Prices] });
    const spy = jest.spyOn(started.app.get(Prices), 'tick').mockReturnValue(7);
    const run = new FakeRun();

    expect(started.jobs()[0]?.invoke(run)).toBe(7);
    expect(spy.mock.calls).toEqual([[run]]);
  });

  it('keeps the job of a method that another decorator wraps, on either side', async () => {
    const wrap: MethodDecorator = (_target, _name, descriptor: PropertyDescriptor) => {
      const inner = descriptor.value as () => string;
      descriptor.value = function (this: unknown): string {
        return `wrapped ${inner.call(this)}`;
      };
    };
    class Wrapped {
      @wrap
      @FixedRate('1s')
      @SetMetadata('anything', true)
      outside(): string {
        return 'outside';
      }

      @FixedRate('1s')
      @wrap
      inside(): string {
        return 'inside';
      }
    }
    await using started = await startDisabled({ providers: [Wrapped] });

    expect(started.jobs().map((job) => job.invoke(new FakeRun()))).toEqual(['wrapped outside', 'wrapped inside']);
  });
});

describe('an override', () => {
  it('changes everything except the name and the kind', async () => {
    class Reports {
      @Cron('0 3 * * *', { name: 'daily', timeZone: 'Asia/Singapore', enabled: false })
      daily(): void {}
    }
    const daily = {
      cron: '0 4 * * *',
      enabled: true,
      lockExpiry: '60s',
      warnAfter: false,
      misfireGrace: 0,
      overlap: 'cancel-other',
    } as const;
    await using started = await startDisabled({ providers: [Reports] }, { jobs: { daily } });

    expect(started.jobs()).toMatchObject([
      {
        name: 'daily',
        enabled: true,
        lockExpiryMs: 60_000,
        warnAfterMs: undefined,
        misfireGraceMs: 0,
        overlap: 'cancel-other',
        schedule: { description: 'cron 0 4 * * * Asia/Singapore' },
      },
    ]);
  });

  it('of an unknown job is a warning, with a suggestion', async () => {
    const jobs = { 'price-tik': { period: '1s' }, report: {} } as const;
    await using started = await startDisabled({ providers: [Prices] }, { jobs });

    expect(started.logger.lines).toEqual(
      expect.arrayContaining([
        "warn: jobs.price-tik is no job of this application, so it changes nothing: did you mean 'price-tick'?",
        'warn: jobs.report is no job of this application, so it changes nothing: the jobs are price-tick',
      ]),
    );
  });
});

describe('a job without options', () => {
  it('has the defaults of the module, and a misfire grace from its own lock expiry', async () => {
    class Reports {
      @Cron('0 3 * * *', { name: 'daily', lockExpiry: '20s' })
      daily(): void {}
    }
    await using started = await startDisabled({ providers: [Reports] }, { timeZone: 'Europe/Berlin' });
    const [job] = started.jobs();

    expect({ ...job, schedule: job?.schedule.description, invoke: undefined }).toEqual({
      name: 'daily',
      location: 'Reports.daily',
      schedule: 'cron 0 3 * * * Europe/Berlin',
      enabled: true,
      lockExpiryMs: 20_000,
      timeoutMs: undefined,
      warnAfterMs: 8_000,
      overlap: 'skip',
      initialDelayMs: 0,
      misfireGraceMs: 8_000 + 2 * 20_000 + 3_000,
      invoke: undefined,
    });
  });
});
