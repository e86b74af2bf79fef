import { describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  Scope,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Cron as NestCron, Interval as NestInterval, ScheduleModule, Timeout as NestTimeout } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DISABLED, problemsOf, RecordingLogger, startDisabled } from '../support/nest-application.js';
import {
  Cron,
  FixedRate,
  Interval,
  type JobDecorator,
  type JobRun,
  SingletonJobModule,
  WhileLeader,
} from 'nestjs-singleton-job';
import { FakeRun } from 'nestjs-singleton-job/testing';

@Injectable()
class Prices {
  readonly ticks: unknown[] = [];

  @FixedRate('500ms', { name: 'price-tick' })
  tick(run?: JobRun): number {
    return this.ticks.push(run);
  }
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
  pull(): void {}
}
class Orders extends Importer {}
class Users extends Importer {
  override pull(): void {}
}

class Reports {
  @Cron('0 3 * * *', { name: 'nightly' })
  @Interval('1h', { name: 'hourly' })
  write(): void {}
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
      'one instance of two tokens, once',
      { providers: ['ONE', 'TWO'].map((provide) => ({ provide, useValue: PRICES })) },
    ],
    ['a class that one module lists twice, once', { providers: [Prices, Prices] }],
    ['a factory that returns another provider, once', { providers: [Prices, AGAIN] }],
    ['a module that is imported in two places, once', { imports: [PricesModule, OtherModule] }],
    ['each class that inherits them', { providers: [Orders, Users] }, ['Orders.pull', 'Users.pull']],
    ['a method with several schedules, each with a name', { providers: [Reports] }, ['hourly', 'nightly']],
    ['a provider with a getter, which is not read', { providers: [Lazy] }],
    ['nothing else', { providers: NO_OBJECTS.map((useValue, index) => ({ provide: String(index), useValue })) }, []],
  ])('%s', async (_what, root, names = ['price-tick']) => {
    await using started = await startDisabled(root);
    expect(started.jobs().map(({ name }) => name)).toEqual(names);
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

    override overridden(): void {}
  }

  class WarmUp {
    @NestTimeout(1_000_000)
    warmUp(): void {}
  }

  @Controller()
  class Probes {
    @NestCron('0 3 1 1 *')
    beat(): void {}
  }

  @Injectable({ scope: Scope.REQUEST })
  class PerRequest {
    @NestInterval(1_000_000)
    tick(): void {}
  }

  const all = { providers: [Mixed, { provide: 'AGAIN', useClass: Timers }, PerRequest], controllers: [Probes] };
  const forRoot = ScheduleModule.forRoot();

  it.each<[what: string, root: ModuleMetadata]>([
    ['as never run, without a ScheduleModule', all],
    ['as never run, with a ScheduleModule of its own', { ...all, imports: [class ScheduleModule {}] }],
    ['as run on every replica, with forRoot()', { ...all, imports: [forRoot] }],
    [
      'as run on every replica, with forRootAsync',
      { ...all, imports: [ScheduleModule.forRootAsync({ useFactory: () => ({}) })] },
    ],
    ['where there is no job, as run on every replica', { providers: [Timers], imports: [forRoot] }],
    ['where there is no job, as never run', { providers: [WarmUp] }],
  ])('%s', async (_what, root) => {
    await using started = await startDisabled(root);
    expect(started.logger.lines.filter((line) => line.includes('@nestjs/schedule'))).toMatchSnapshot();
  });
});

describe('the application does not start with', () => {
  class Quotes {
    @Interval('1s', { name: 'price-tick' })
    poll(): void {}
  }

  class Cart {
    @FixedRate('1s')
    sweep(): void {}
  }

  @Injectable()
  class DependentCart extends Cart {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  const factory = (rest: object) => ({ provide: Cart, useFactory: () => new Cart(), ...rest });

  const minified = (decorate: JobDecorator): Type => {
    class t {
      @decorate
      tick(): void {}
    }
    return t;
  };

  it.each<readonly [what: string, root: ModuleMetadata]>([
    ['a class that two modules provide', { imports: [PricesModule], providers: [Prices] }],
    ['a class under two tokens of one module', { providers: [Prices, { provide: 'X', useClass: Prices }] }],
    ['two jobs of one name', { providers: [Prices, Quotes] }],
    ['a job that depends on something request-scoped', { providers: [DependentCart] }],
    ['a job of a request-scoped factory', { providers: [factory({ scope: Scope.REQUEST })] }],
    ['a job of a transient factory', { providers: [factory({ scope: Scope.TRANSIENT })] }],
    ['a class with a name of a minifier', { providers: [minified(FixedRate('1s'))] }],
    ['a class without a name, in the form of its decorator', { providers: [minified(WhileLeader())] }],
  ])('%s', async (_what, root) => {
    expect(await problemsOf(startDisabled(root))).toMatchSnapshot();
  });

  it('no class whose name does not last, if the job has a name', async () => {
    const providers = [minified(FixedRate('1s', { name: 'price-tick' }))];
    expect(await problemsOf(startDisabled({ providers }))).toEqual([]);
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
  it('changes what the decorator says, and the rest of it stays', async () => {
    class Reports {
      @Cron('0 3 * * *', { name: 'daily', timeZone: 'Asia/Singapore', enabled: false })
      daily(): void {}
    }
    const daily = { cron: '0 4 * * *', enabled: true, misfireGrace: 0, overlap: 'cancel-other' } as const;
    await using started = await startDisabled({ providers: [Reports] }, { jobs: { daily } });
    const schedule = { description: 'cron 0 4 * * * Asia/Singapore' };
    expect(started.jobs()).toMatchObject([{ enabled: true, misfireGraceMs: 0, overlap: 'cancel-other', schedule }]);
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

    expect({ ...job, schedule: job?.schedule.description, invoke: undefined }).toMatchSnapshot();
  });
});
