import { describe, expect, it } from '@jest/globals';
import { type InvalidJobsError, type InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { resolveOptions } from '../options/resolve-options.js';
import { FROM_VARIABLES } from '../options/variables/variables.js';
import { exploreInstances } from '../testing/explore-instances.js';
import { Cron, FixedRate } from './job.decorators.js';

class Prices {
  @FixedRate('1s', { name: 'tick', timeout: 0, offset: '2s' })
  tick(): void {}
}

/** The mistakes of the job with these overrides in code and in variables. */
function problemsOf(inCode: object, inVariables: Readonly<Record<string, unknown>> = {}): readonly string[] {
  const jobs = { tick: inCode };
  const fromVariables = { prefix: 'APP_', problems: [], jobs: { TICK: inVariables } };
  try {
    const options = { projectName: 'test', enabled: false, jobs, [FROM_VARIABLES]: fromVariables };
    exploreInstances([new Prices()], resolveOptions(options));
    return [];
  } catch (error: unknown) {
    return (error as InvalidJobsError | InvalidOptionsError).problems;
  }
}

describe('a value that another place overrides', () => {
  it('is reported with its place if it is wrong', () => {
    const OWN = [
      'Prices.tick: @FixedRate timeout must be at least 1ms, got 0ms: raise it',
      'Prices.tick: offset must be less than the period (1s), got 2s: take what remains after division by the period',
    ];
    expect(problemsOf({ timeout: '5s', offset: 0 })).toEqual(OWN);
    expect(problemsOf({ timeout: 0 }, { timeout: '0s' })).toEqual([
      'jobs.tick.timeout must be at least 1ms, got 0ms: raise it',
      'timeout (APP_JOBS__TICK__TIMEOUT) must be at least 1ms, got 0ms: raise it',
    ]);
  });

  it('makes a wrong schedule together with it, and both places are named', () => {
    const [, , merged] = problemsOf({ period: '3s' }, { offset: '4s' });
    expect(merged).toBe(
      'jobs.tick.period, offset (APP_JOBS__TICK__OFFSET) of Prices.tick: offset must be less than the period (3s), got 4s: ' +
        'take what remains after division by the period',
    );
  });
});

describe('A schedule', () => {
  it('has the shift and the jitter of its options', () => {
    class Spread {
      @FixedRate('1h', { name: 'spread', offset: '5s', jitter: '30s' })
      tick(): void {}

      @Cron('0 3 * * *', { name: 'nightly', jitter: '10m' })
      nightly(): void {}
    }
    const { jobs } = exploreInstances([new Spread()], resolveOptions({ projectName: 'test', enabled: false }));
    expect(jobs.map(({ schedule }) => schedule.description)).toEqual([
      'fixed-rate 3600000ms offset 5000ms jitter 30000ms',
      'cron 0 3 * * * UTC jitter 600000ms',
    ]);
  });
});
