import { describe, expect, it } from '@jest/globals';
import { type ScheduleKind } from '../../base/events/run-info.js';
import { Cron, FixedRate, Interval, type JobDecorator, Once, WhileLeader } from '../../jobs/job.decorators.js';
import { exploreInstances } from '../../testing/explore-instances.js';
import { resolveOptions } from '../resolve-options.js';
import { DECORATOR_OPTIONS, OVERRIDES } from './job-option-table.js';

const OVERRIDABLE = Object.keys(OVERRIDES);

/** Wrong for every option. */
const WRONG = {};

const DECORATORS: Readonly<Record<ScheduleKind, (options: object) => JobDecorator>> = {
  'fixed-rate': (options) => FixedRate('1s', options),
  interval: (options) => Interval('1s', options),
  cron: (options) => Cron('0 3 * * *', options),
  'while-leader': (options) => WhileLeader(options),
  once: (options) => Once(options),
};

function wrong(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, WRONG]));
}

/** The options that the error names. */
function refusedBy(start: () => unknown): (string | undefined)[] {
  try {
    start();
  } catch (error: unknown) {
    const { problems } = error as { readonly problems: readonly string[] };
    return problems.map((problem) => /(\w+) must be /.exec(problem)?.[1]).toSorted();
  }
  return [];
}

/** A class with a job of this kind that is given all its options. */
function jobsWith(kind: string, decorate: (options: object) => JobDecorator, all: typeof wrong) {
  class Prices {
    tick(): void {}
  }
  const names = Object.keys(DECORATOR_OPTIONS[kind as ScheduleKind]);
  decorate(all(names))(Prices.prototype, 'tick', { value: () => undefined });
  return { names, instances: [new Prices()] };
}

const OPTIONS = { projectName: 'test', enabled: false };

describe('an option of a job', () => {
  it.each(Object.entries(DECORATORS))('is checked in the decorator of a job of kind %s', (kind, decorate) => {
    const { names, instances } = jobsWith(kind, decorate, wrong);
    expect(refusedBy(() => exploreInstances(instances, resolveOptions(OPTIONS)))).toEqual(names.toSorted());
  });

  it.each(Object.entries(DECORATORS))('that is undefined counts as left out, of kind %s', (kind, decorate) => {
    const unset = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, undefined]));
    const { instances } = jobsWith(kind, decorate, unset);
    const jobs = { 'Prices.tick': unset(OVERRIDABLE) };
    const [job] = exploreInstances(instances, resolveOptions({ ...OPTIONS, jobs })).jobs;
    expect(job).toMatchObject({ name: 'Prices.tick', enabled: true, lockExpiryMs: 10_000, timeoutMs: undefined });
  });

  it('is checked in an override', () => {
    const jobs = { 'price-tick': wrong(OVERRIDABLE) };
    expect(refusedBy(() => resolveOptions({ ...OPTIONS, jobs }))).toEqual(OVERRIDABLE.toSorted());
  });
});
