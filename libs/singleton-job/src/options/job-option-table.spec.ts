import { describe, expect, it } from '@jest/globals';
import { Cron, FixedRate, Interval, type JobDecorator } from '../decorators/index.js';
import { exploreInstances } from '../discovery/index.js';
import { type ScheduleKind } from '../events/index.js';
import { optionsOf, OVERRIDABLE } from './job-option-table.js';
import { resolveOptions } from './resolve-options.js';

/** Wrong for every option. */
const WRONG = {};

const DECORATORS: Readonly<Record<ScheduleKind, (options: object) => JobDecorator>> = {
  'fixed-rate': (options) => FixedRate('1s', options),
  interval: (options) => Interval('1s', options),
  cron: (options) => Cron('0 3 * * *', options),
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

describe('an option of a job', () => {
  it.each(Object.entries(DECORATORS))('is checked in the decorator of a job of kind %s', (kind, decorate) => {
    class Prices {
      tick(): void {}
    }
    const names = optionsOf(kind as ScheduleKind);
    decorate(wrong(names))(Prices.prototype, 'tick', { value: () => undefined });
    const options = resolveOptions({ projectName: 'test', enabled: false });
    expect(refusedBy(() => exploreInstances([new Prices()], options))).toEqual(names.toSorted());
  });

  it('is checked in an override', () => {
    const start = () =>
      resolveOptions({ projectName: 'test', enabled: false, jobs: { 'price-tick': wrong(OVERRIDABLE) } });
    expect(refusedBy(start)).toEqual(OVERRIDABLE.toSorted());
  });
});
