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

describe('a job is', () => {
  it('a decorated method of a provider', async () => {
    await using started = await startDisabled({ providers: [Prices] });

    expect(started.jobs()).toMatchObject([{ name: 'price-tick', location: 'Prices.tick' }]);
  });

  it('a decorated method of a controller', async () => {
    @Controller()
    class Health {
      @Interval('1s')
      beat(): void {}
    }
    await using started = await startDisabled({ controllers: [Health] });

    expect(namesOf(started)).toEqual(['Health.beat']);
  });

  it('called after its class and method unless it has a name', async () => {
    class Reports {
      @Cron('0 3 * * *')
      daily(): void {}
    }
    await using started = await startDisabled({ providers: [Reports] });

    expect(namesOf(started)).toEqual(['Reports.daily']);
  });

  it('not in a class that is no provider', async () => {
    class Forgotten {
      @FixedRate('1s')
      tick(): void {}
    }
    await using without = await startDisabled({ providers: [Prices] });
    await using withIt = await startDisabled({ providers: [Prices, Forgotten] });

    expect(namesOf(without)).toEqual(['price-tick']);
    expect(namesOf(withIt)).toEqual(['price-tick', 'Forgotten.tick']);
  });

  it('found beside a ScheduleModule', async () => {
    await using started = await startDisabled({ imports: [ScheduleModule.forRoot()], providers: [Prices] });

    expect(namesOf(started)).toEqual(['price-tick']);
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
  class Health {
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
    await using started = await startDisabled({ imports, providers, controllers: [Health] });
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

describe('one job comes of', () => {
  it('a provider with an alias', async () => {
    await using started = await startDisabled({ providers: [Prices, { provide: 'ALIAS', useExisting: Prices }] });

    expect(namesOf(started)).toEqual(['price-tick']);
  });

  it('one instance under two tokens', async () => {
    const prices = new Prices();
    const providers = [
      { provide: 'ONE', useValue: prices },
      { provide: 'TWO', useValue: prices },
    ];
    await using started = await startDisabled({ providers });

    expect(namesOf(started)).toEqual(['price-tick']);
  });

  it('a class that one module lists twice', async () => {
    await using started = await startDisabled({ providers: [Prices, Prices] });

    expect(namesOf(started)).toEqual(['price-tick']);
  });

  it('a factory that returns another provider', async () => {
    const again = { provide: 'AGAIN', useFactory: (prices: Prices) => prices, inject: [Prices] };
    await using started = await startDisabled({ providers: [Prices, again] });

    expect(namesOf(started)).toEqual(['price-tick']);
  });

  it('a module that is imported in two places', async () => {
    @Module({ providers: [Prices] })
    class PricesModule {}

    @Module({ imports: [PricesModule] })
    class OtherModule {}
    await using started = await startDisabled({ imports: [PricesModule, OtherModule] });

    expect(namesOf(started)).toEqual(['price-tick']);
  });
});

describe('an inherited method', () => {
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

  it('is a job of each concrete class', async () => {
    await using started = await startDisabled({ providers: [Orders, Users] });

    expect(namesOf(started)).toEqual(['Orders.pull', 'Users.pull']);
  });

  it('that is overridden without a decorator stays a job, and the override runs', async () => {
    await using started = await startDisabled({ providers: [Users] });

    expect(started.jobs()[0]?.invoke(new FakeRun())).toBe('override');
  });

  it('that is overridden with a decorator uses that one', async () => {
    class Slow extends Importer {
      @FixedRate('1m')
      override pull(): string {
        return 'slow';
      }
    }
    await using started = await startDisabled({ providers: [Slow] });

    expect(started.jobs().map(({ schedule }) => schedule.description)).toEqual(['fixed-rate 60000ms offset 0ms']);
  });

  it('with a name cannot be two jobs', async () => {
    abstract class Named {
      @FixedRate('1s', { name: 'pull' })
      pull(): void {}
    }
    class First extends Named {}
    class Second extends Named {}

    expect(await problemsOf(startDisabled({ providers: [First, Second] }))).toMatchSnapshot();
  });
});

describe('the application does not start with', () => {
  it('a class that two modules provide', async () => {
    @Module({ providers: [Prices] })
    class PricesModule {}

    expect(await problemsOf(startDisabled({ imports: [PricesModule], providers: [Prices] }))).toMatchSnapshot();
  });

  it('a class under two tokens of one module, which makes two instances', async () => {
    expect(
      await problemsOf(startDisabled({ providers: [Prices, { provide: 'X', useClass: Prices }] })),
    ).toMatchSnapshot();
  });

  it('two jobs of one name', async () => {
    class Quotes {
      @Interval('1s', { name: 'price-tick' })
      poll(): void {}
    }

    expect(await problemsOf(startDisabled({ providers: [Prices, Quotes] }))).toMatchSnapshot();
  });

  it('a request-scoped job', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Cart {
      @FixedRate('1s')
      sweep(): void {}
    }

    expect(await problemsOf(startDisabled({ providers: [Cart] }))).toMatchSnapshot();
  });

  it('a job that depends on something request-scoped', async () => {
    @Injectable()
    class Cart {
      constructor(@Inject(REQUEST) readonly request: unknown) {}

      @FixedRate('1s')
      sweep(): void {}
    }

    expect(await problemsOf(startDisabled({ providers: [Cart] }))).toMatchSnapshot();
  });

  it('a transient job', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Cart {
      @FixedRate('1s')
      sweep(): void {}
    }

    expect(await problemsOf(startDisabled({ providers: [Cart] }))).toMatchSnapshot();
  });

  it.each([
    ['request-scoped', { scope: Scope.REQUEST }],
    ['transient', { scope: Scope.TRANSIENT }],
    ['dependent on the request', { inject: [REQUEST] }],
  ])('a job of a factory that is %s', async (_kind, factory) => {
    class Cart {
      @FixedRate('1s')
      sweep(): void {}
    }
    const provider = { provide: Cart, useFactory: () => new Cart(), ...factory };

    expect(await problemsOf(startDisabled({ providers: [provider] }))).toMatchSnapshot();
  });

  it('a class with a name of a minifier, unless the job has a name', async () => {
    const job = (name?: string): Type => {
      class t {
        @FixedRate('1s', { name })
        tick(): void {}
      }
      return t;
    };

    expect(await problemsOf(startDisabled({ providers: [job()] }))).toMatchSnapshot();
    expect(await problemsOf(startDisabled({ providers: [job('price-tick')] }))).toEqual([]);
  });

  it('a class with a name of mixin(), unless the job has a name', async () => {
    const job = (name?: string): Type => {
      class PricesMixin {
        @FixedRate('1s', { name })
        tick(): void {}
      }
      return mixin(PricesMixin);
    };

    expect(await problemsOf(startDisabled({ providers: [job()] }))).toMatchSnapshot();
    expect(await problemsOf(startDisabled({ providers: [job('price-tick'), job('quotes')] }))).toEqual([]);
    expect(await problemsOf(startDisabled({ providers: [job('tick'), job('tick')] }))).toMatchSnapshot();
  });

  it('with the form of its decorator', async () => {
    class t {
      @WhileLeader()
      consume(): void {}
    }
    const [problem] = await problemsOf(startDisabled({ providers: [t] }));
    expect(problem).toContain("name the job, as in @WhileLeader('order-feed')");
  });
});

describe('a class without a name', () => {
  it('cannot give its job a name', async () => {
    class Base {
      @FixedRate('1s')
      tick(): void {}
    }
    const anonymous = (() => class extends Base {})();

    expect(await problemsOf(startDisabled({ providers: [anonymous] }))).toMatchSnapshot();
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
  it('reads no getter of a provider', async () => {
    class Lazy extends Prices {
      get connection(): never {
        throw new Error('a getter was read');
      }
    }
    await using started = await startDisabled({ providers: [Lazy] });

    expect(namesOf(started)).toEqual(['price-tick']);
  });

  it('ignores providers that are no objects', async () => {
    const providers = [null, 'text', 5, Object.create(null) as unknown, () => undefined].map((useValue, index) => ({
      provide: String(index),
      useValue,
    }));
    await using started = await startDisabled({ providers });

    expect(namesOf(started)).toEqual([]);
  });

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
