import { describe, expect, it } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { Cron as NestCron } from '@nestjs/schedule';
import {
  Cron,
  FixedRate,
  Interval,
  type JobDecorator,
  type JobOverrides,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';
import { problemsOf, startDisabled } from '../support/nest-application.js';

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

const DURATION = "must be a duration such as 500 (milliseconds), '500ms', '3s' or '5m'";
const UNITS = "write it as 500, '500ms', '3s', '5m', '2h' or '1d'";
const NAME = 'must be a name without braces, colons, slashes, spaces and control characters';
const CURE_NAME = "name the job, as in { name: 'price-tick' }";
const FIELDS = "use five or six fields, as in '0 3 * * *'";

type Row = readonly [mistake: string, decorator: Decorator, problem: string];

const SCHEDULES: Row[] = [
  ['a period below nothing', fixedRate(-5), '@FixedRate period must be at least 1ms, got -5ms: raise it'],
  ['a period of zero', fixedRate(0), '@FixedRate period must be at least 1ms, got 0ms: raise it'],
  ['no period', fixedRate(), `@FixedRate period ${DURATION}, got undefined: give it`],
  [
    'a period without a unit',
    fixedRate('500'),
    `@FixedRate period ${DURATION}, got '500': add a unit, as in '500ms', or pass it as a number`,
  ],
  [
    'an expression for a period',
    fixedRate('*/5 * * * *'),
    `@FixedRate period ${DURATION}, got '*/5 * * * *': a cron expression belongs in @Cron`,
  ],
  [
    'an offset of a whole period',
    FixedRate('1s', { offset: '1s' }),
    'offset must be less than the period (1s), got 1s: take what remains after division by the period',
  ],
  ['a delay in words', interval('a minute'), `@Interval delay ${DURATION}, got 'a minute': ${UNITS}`],
  [
    'a name, a delay and options',
    interval('heartbeat', '1s', { timeout: '5s' }),
    "@Interval must have two arguments at most, got 3: write the name among the options, as in @Interval('1s', { name: 'heartbeat', timeout: '5s' })",
  ],
  ['a name without a delay', interval('heartbeat'), `@Interval delay ${DURATION}, got 'heartbeat': ${UNITS}`],
  [
    'a date',
    cron(new Date(0)),
    '@Cron expression must be a cron expression, got an instance of Date: a schedule repeats; for one instant use a queue with delayed jobs',
  ],
  [
    'milliseconds for an expression',
    cron(500),
    '@Cron expression must be a cron expression, got 500: for a number of milliseconds use @FixedRate or @Interval',
  ],
  ['no expression', cron(), `@Cron expression must be a cron expression, got undefined: ${FIELDS}`],
];

const OPTIONS: Row[] = [
  [
    'an unknown option',
    fixedRate('1s', { overlp: 'skip' }),
    "@FixedRate overlp is no option here: did you mean 'overlap'?",
  ],
  [
    'options that are none',
    fixedRate('1s', 'price-tick'),
    "@FixedRate options must be an object, got 'price-tick': write them as { name: 'price-tick' }",
  ],
  [
    'a name with a space',
    FixedRate('1s', { name: 'price tick' }),
    `@FixedRate name ${NAME}, got 'price tick': ${CURE_NAME}`,
  ],
  ['an empty name', FixedRate('1s', { name: '' }), `@FixedRate name ${NAME}, got '': ${CURE_NAME}`],
  [
    'a lock that is too short',
    FixedRate('1s', { lockExpiry: '400ms' }),
    '@FixedRate lockExpiry must be at least 500ms, got 400ms: raise it',
  ],
  ['a timeout of zero', FixedRate('1s', { timeout: 0 }), '@FixedRate timeout must be at least 1ms, got 0ms: raise it'],
  [
    'enabled and disabled',
    FixedRate('1s', { enabled: true, disabled: true }),
    '@FixedRate enabled and disabled contradict each other, both are true: keep one of them',
  ],
  [
    'false as a string',
    fixedRate('1s', { enabled: 'false' }),
    "@FixedRate enabled must be true or false, got 'false': convert the string first, as in process.env.NAME !== 'false'",
  ],
  [
    'waitForCompletion: false',
    cron('* * * * *', { waitForCompletion: false }),
    "@Cron waitForCompletion must be true, got false: runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight",
  ],
  [
    'utcOffset',
    cron('* * * * *', { utcOffset: 8 }),
    "@Cron utcOffset is no option here: name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time",
  ],
  [
    'threshold',
    cron('* * * * *', { threshold: 250 }),
    '@Cron threshold is no option here: misfireGrace says how late an occurrence may start; leave it out or use that',
  ],
  [
    'unrefTimeout',
    cron('* * * * *', { unrefTimeout: true }),
    '@Cron unrefTimeout is no option here: no timer keeps the process alive after app.close(); leave it out',
  ],
  [
    'an offset of a cron job',
    cron('* * * * *', { offset: 5 }),
    '@Cron offset is no option here: only a fixed-rate job has a grid to move; leave it out',
  ],
  [
    'overlap of an interval',
    interval('1s', { overlap: 'skip' }),
    '@Interval overlap is no option here: an interval is counted from the end of the run, so its ticks never overlap; leave it out',
  ],
  [
    'a zone of an interval',
    interval('1s', { timeZone: 'UTC' }),
    '@Interval timeZone is no option here: only cron jobs read local time; leave it out',
  ],
  [
    'a grace of a fixed rate',
    fixedRate('1s', { misfireGrace: 0 }),
    '@FixedRate misfireGrace is no option here: only cron jobs have occurrences that can be late; leave it out',
  ],
  [
    'a period among the options',
    fixedRate('1s', { period: '2s' }),
    "@FixedRate period is no option here: it is the first argument, as in @FixedRate('500ms')",
  ],
  [
    'an unknown zone',
    Cron('* * * * *', { timeZone: 'Europe/Berln' }),
    "@Cron timeZone must be an IANA time zone, got 'Europe/Berln': did you mean 'Europe/Berlin'?",
  ],
];

describe('a decorator with one mistake keeps the application from starting and says', () => {
  it.each([...SCHEDULES, ...OPTIONS])('what is wrong with %s, and the fix', async (_mistake, decorator, problem) => {
    expect(await mistakes([jobWith(decorator)])).toEqual([`Prices.tick: ${problem}`]);
  });

  it.each(['', '* * *', '61 * * * *', '0 0 30 2 *'])(
    'the place of the expression %j that cannot be used',
    async (expression) => {
      expect(await mistakes([jobWith(Cron(expression))])).toEqual([expect.stringMatching(/^Prices\.tick: cron /)]);
    },
  );

  it('every mistake of every job at once', async () => {
    const problems = await mistakes([jobWith(fixedRate('x', { overlp: 1, lockExpiry: 5 })), jobWith(cron(5))]);

    expect(problems).toHaveLength(5);
    expect(problems.at(-1)).toMatch(/^job 'Prices\.tick' must be declared once/);
  });
});

describe('a decorator in the wrong place keeps the application from starting, like', () => {
  it('two of ours on one method', async () => {
    expect(await mistakes([jobWith(FixedRate('1s'), Cron('* * * * *'))])).toEqual([
      'Prices.tick: must have one decorator, got @FixedRate and @Cron: give each schedule a method of its own',
    ]);
  });

  it('one of ours and one of @nestjs/schedule on one method', async () => {
    expect(await mistakes([jobWith(FixedRate('1s'), NestCron('* * * * *'))])).toEqual([
      'Prices.tick: must have one decorator, got @FixedRate and one of @nestjs/schedule: ' +
        'remove that of @nestjs/schedule, which runs the method on every replica',
    ]);
  });

  it('one on a static method', async () => {
    class Prices {
      @FixedRate('1s')
      static tick(): void {}

      tock(): void {}
    }

    expect(await mistakes([Prices])).toEqual([
      'Prices.tick: @FixedRate must be on a method of an instance, got a static method: make it one of the provider',
    ]);
  });

  it('one on a class', async () => {
    @(FixedRate('1s') as unknown as ClassDecorator)
    class Prices {}

    expect(await mistakes([Prices])).toEqual([
      'Prices: @FixedRate must be on a method, got the class: put it above the method that it runs',
    ]);
  });

  it('one on a property', async () => {
    class Prices {
      @onAnything(FixedRate('1s'))
      tick = async (): Promise<void> => {};
    }

    expect(await mistakes([Prices])).toEqual([
      'Prices.tick: @FixedRate must be on a method, got a property: write it as async tick(run) { … }',
    ]);
  });

  it('one on a getter, which is not read', async () => {
    class Prices {
      @onAnything(FixedRate('1s'))
      get tick(): () => void {
        throw new Error('a getter was read');
      }
    }

    expect(await mistakes([Prices])).toEqual([
      'Prices.tick: @FixedRate must be on a method, got a getter or setter: write it as async tick(run) { … }',
    ]);
  });
});

const OR_IGNORE =
  '(or set ignoreUnknownJobs: true, where the provider of the job is left out or replaced, as in a test)';

describe('an override', () => {
  const rate = jobWith(FixedRate('1s', { name: 'tick' }));
  const cronJob = jobWith(Cron('* * * * *', { name: 'tick' }));

  it.each<[string, Type, JobOverrides, string]>([
    [
      'a schedule of another kind',
      rate,
      { cron: '* * * * *' },
      'jobs.tick.cron is no option of a fixed-rate job: its schedule is set by period',
    ],
    [
      'an option of another kind',
      cronJob,
      { offset: 5 },
      'jobs.tick.offset is no option of a cron job: only a fixed-rate job has a grid to move; leave it out',
    ],
    [
      'a period within the offset',
      jobWith(FixedRate('1s', { name: 'tick', offset: 500 })),
      { period: 400 },
      'jobs.tick (Prices.tick): offset must be less than the period (400ms), got 500ms: take what remains after division by the period',
    ],
  ])('with %s keeps the application from starting', async (_mistake, provider, override, problem) => {
    expect(await mistakes([provider], { jobs: { tick: override } })).toEqual([problem]);
  });

  it('of a job that there is not keeps it from starting, with a suggestion', async () => {
    expect(await mistakes([rate], { jobs: { tik: { period: 5 } } })).toEqual([
      `jobs.tik is no job of this application: did you mean 'tick'? ${OR_IGNORE}`,
    ]);
    expect(await mistakes([rate], { jobs: { 'daily-report': {} } })).toEqual([
      `jobs.daily-report is no job of this application: the jobs are tick ${OR_IGNORE}`,
    ]);
  });

  it.each<[string, Type]>([
    ['name is a mistake', jobWith(FixedRate('1s', { name: 'price tick' }))],
    ['decorators are a mistake', jobWith(FixedRate('1s', { name: 'price-tick' }), NestCron('* * * * *'))],
  ])('of a job whose %s is no mistake besides', async (_what, provider) => {
    const problems = await mistakes([provider], { jobs: { 'price-tick': { period: 5 }, report: {} } });

    expect(problems).toEqual([
      expect.stringMatching(/^Prices\.tick: /),
      expect.stringMatching(/^jobs\.report is no job/),
    ]);
  });
});
