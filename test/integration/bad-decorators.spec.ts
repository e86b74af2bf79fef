import { describe, expect, it } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { Cron as NestCron } from '@nestjs/schedule';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import {
  Cron,
  FixedRate,
  Interval,
  type JobDecorator,
  type JobOverrides,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';

// what a JavaScript or a careless application writes: the types would refuse it
const fixedRate = FixedRate as (...args: unknown[]) => MethodDecorator;
const interval = Interval as (...args: unknown[]) => MethodDecorator;
const cron = Cron as (...args: unknown[]) => MethodDecorator;
const onAnything = (decorator: unknown): PropertyDecorator => decorator as PropertyDecorator;

type Decorator = MethodDecorator | JobDecorator;

/** A provider whose method `tick` has these decorators. */
function jobWith(...decorators: readonly Decorator[]): Type {
  @Injectable()
  class Prices {
    tick(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Prices.prototype, 'tick') as TypedPropertyDescriptor<() => void>;
  for (const decorate of decorators) (decorate as MethodDecorator)(Prices.prototype, 'tick', descriptor);
  return Prices;
}

function mistakes(providers: Type[], options: Partial<SingletonJobOptions> = {}): Promise<readonly string[]> {
  return problemsOf(startDisabled({ providers }, options));
}

/** With one mistake each. */
const WRONG: Readonly<Record<string, readonly Decorator[]>> = {
  '@FixedRate': [
    fixedRate(-5),
    fixedRate(0),
    FixedRate(5),
    FixedRate('1s', { warnAfter: 8 }),
    fixedRate('1s', { warnAfter: '-8s' }),
    FixedRate('1s', { offset: '1s' }),
    fixedRate('1s', { overlp: 'skip' }),
    fixedRate('1s', 'price-tick'),
    FixedRate('1s', { name: 'price tick' }),
    fixedRate('1s', { enabled: 'false' }),
    fixedRate('1s', { period: '2s' }),
    fixedRate('1s', { misfireGrace: 0 }),
  ],
  '@Interval': [
    interval('heartbeat'),
    interval('1s', { firstRun: 'later' }),
    interval('1s', { overlap: 'skip' }),
    interval('1s', { timeZone: 'UTC' }),
  ],
  '@Cron': [
    cron(new Date(0)),
    cron(500),
    cron(),
    cron('61 * * * *'),
    cron('* * * * *', { waitForCompletion: false }),
    cron('* * * * *', { version: '2' }),
    cron('* * * * *', { firstRun: 'now', version: 2 }),
    cron('* * * * *', { only: true }),
    cron('* * * * *', { offset: 5 }),
  ],
};

describe('a decorator with one mistake keeps the application from starting and says what is wrong and the fix', () => {
  it.each(Object.entries(WRONG))('%s', async (_name, decorators) => {
    const problems = await Promise.all(decorators.map((decorator) => mistakes([jobWith(decorator)])));
    expect(problems).toEqual(decorators.map(() => [expect.stringMatching(/^Prices\.tick: /)]));
    expect(problems.flat()).toMatchSnapshot();
  });
});

describe('a decorator in the wrong place keeps the application from starting, like', () => {
  class OnStatic {
    @FixedRate('1s')
    static tick(): void {}

    tock(): void {}
  }

  @(FixedRate('1s') as unknown as ClassDecorator)
  class OnClass {}

  class OnProperty {
    @onAnything(FixedRate('1s'))
    tick = async (): Promise<void> => {};
  }

  class OnGetter {
    @onAnything(FixedRate('1s'))
    get tick(): () => void {
      throw new Error('a getter was read');
    }
  }

  class OnGenerator {
    @FixedRate('1s')
    async *tick(): AsyncGenerator<number> {
      yield Promise.resolve(1);
    }
  }

  it.each<[where: string, provider: Type]>([
    ['one on a generator', OnGenerator],
    ['two of ours on one method without names', jobWith(FixedRate('1s'), Cron('* * * * *'))],
    ['one of ours and one of @nestjs/schedule on one method', jobWith(FixedRate('1s'), NestCron('* * * * *'))],
    ['one on a static method', OnStatic],
    ['one on a class', OnClass],
    ['one on a property', OnProperty],
    ['one on a getter, which is not read', OnGetter],
  ])('%s', async (_where, provider) => {
    expect(await mistakes([provider])).toMatchSnapshot();
  });
});

describe('an override', () => {
  const rate = jobWith(FixedRate('1s', { name: 'tick' }));
  const cronJob = jobWith(Cron('* * * * *', { name: 'tick' }));

  it.each<[string, Type, JobOverrides]>([
    ['a schedule of another kind', rate, { cron: '* * * * *' }],
    ['an option of another kind', cronJob, { offset: '5ms' }],
    ['a period within the offset', jobWith(FixedRate('1s', { name: 'tick', offset: 500 })), { period: 400 }],
  ])('with %s keeps the application from starting', async (_mistake, provider, override) => {
    expect(await mistakes([provider], { jobs: { tick: override } })).toMatchSnapshot();
  });
});
