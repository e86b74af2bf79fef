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

type Row = readonly [mistake: string, decorator: Decorator];

const SCHEDULES: Row[] = [
  ['a period below nothing', fixedRate(-5)],
  ['a period of zero', fixedRate(0)],
  ['seconds without a unit', FixedRate(5)],
  ['seconds of a warning without a unit', FixedRate('1s', { warnAfter: 8 })],
  ['a negative time of a warning', fixedRate('1s', { warnAfter: '-8s' })],
  ['an offset of a whole period', FixedRate('1s', { offset: '1s' })],
  ['a name without a delay', interval('heartbeat')],
  ['a date', cron(new Date(0))],
  ['milliseconds for an expression', cron(500)],
  ['no expression', cron()],
  ['an expression that cannot be used', cron('61 * * * *')],
];

const OPTIONS: Row[] = [
  ['an unknown option', fixedRate('1s', { overlp: 'skip' })],
  ['options that are none', fixedRate('1s', 'price-tick')],
  ['a name with a space', FixedRate('1s', { name: 'price tick' })],
  ['false as a string', fixedRate('1s', { enabled: 'false' })],
  ['an option of another library', cron('* * * * *', { waitForCompletion: false })],
  ['a version without firstRun', cron('* * * * *', { version: '2' })],
  ['a version that is a number', cron('* * * * *', { firstRun: 'now', version: 2 })],
  ['a first run at another time', interval('1s', { firstRun: 'later' })],
  ['only that is no function', cron('* * * * *', { only: true })],
  ['an offset of a cron job', cron('* * * * *', { offset: 5 })],
  ['overlap of an interval', interval('1s', { overlap: 'skip' })],
  ['a zone of an interval', interval('1s', { timeZone: 'UTC' })],
  ['a period among the options', fixedRate('1s', { period: '2s' })],
  ['a grace of a fixed rate', fixedRate('1s', { misfireGrace: 0 })],
];

describe('a decorator with one mistake keeps the application from starting and says', () => {
  it.each([...SCHEDULES, ...OPTIONS])('what is wrong with %s, and the fix', async (_mistake, decorator) => {
    const problems = await mistakes([jobWith(decorator)]);

    expect(problems).toEqual([expect.stringMatching(/^Prices\.tick: /)]);
    expect(problems).toMatchSnapshot();
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
