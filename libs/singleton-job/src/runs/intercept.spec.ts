import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, RunAbortedError } from '../base/errors/run.errors.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { FakeRun } from '../testing/index.js';
import { settle } from '../testing/manual-clock.js';
import { intercept } from './intercept.js';

const boom = new Error('boom');
const failing = () => Promise.reject(boom);
const exploding = () => {
  throw boom;
};
const succeeding = () => 'result';

/** What becomes of a run in one interceptor, and how often the job began. */
async function around(interceptor: RunInterceptor['intercept'], work: () => unknown = succeeding, run = new FakeRun()) {
  let begun = 0;
  const count = () => {
    begun += 1;
    return work();
  };
  const ended = Promise.resolve(intercept([{ intercept: interceptor }], run, count));
  const result = await ended.catch((error: unknown) => error);
  return [result, begun];
}

describe('An interceptor', () => {
  it.each<[string, unknown, number, RunInterceptor['intercept'], () => unknown]>([
    ['gives the run its own result', 'other', 1, (_, next) => next().then(() => 'other'), succeeding],
    ['that throws fails the run', boom, 0, exploding, succeeding],
    ['that rejects fails the run', boom, 0, failing, succeeding],
    ['that never calls next keeps the job from running', undefined, 0, () => undefined, succeeding],
    ['sees what the job throws', boom, 1, (_, next) => next(), failing],
    ['may handle what the job throws', 'handled', 1, (_, next) => next().catch(() => 'handled'), failing],
    ['that calls next twice runs the job once', 'result', 1, (_, next) => next().then(next), succeeding],
    ['that does not wait for the job hides its error', undefined, 1, (_, next) => void next(), failing],
  ])('%s', async (_, result, begun, interceptor, work) => {
    expect(await around(interceptor, work)).toEqual([result, begun]);
  });

  it('that returns next instead of its result fails the run', async () => {
    const [error, begun] = await around((_, next) => next);
    expect([String(error), begun]).toEqual([expect.stringMatching(/^Error: an interceptor of job .* call it/), 0]);
  });

  it('that does not wait for the job does not end its run', async () => {
    let end = (): void => undefined;
    const run = around(
      (_, next) => void next(),
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    const first = await Promise.race([run, settle().then(() => 'still running')]);
    end();
    expect([first, await run]).toEqual(['still running', [undefined, 1]]);
  });

  it('that takes long after the job has failed causes no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const slow: RunInterceptor['intercept'] = async (_, next) => {
      const begun = next();
      await new Promise((resolve) => setImmediate(resolve));
      return begun;
    };
    expect(await around(slow, failing)).toEqual([boom, 1]);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it.each<[string, 'abort' | 'loseLease', unknown]>([
    ['whose signal has fired', 'abort', RunAbortedError],
    ['past the deadline, before any timer', 'loseLease', LeaseLostError],
  ])('does not begin the job of a run %s', async (_, end, error) => {
    const run = new FakeRun();
    const late: RunInterceptor['intercept'] = (_run, next) => {
      run[end]('TIMEOUT');
      return next();
    };
    expect(await around(late, undefined, run)).toEqual([expect.any(error), 0]);
  });

  it('wraps those after it, and the job', async () => {
    const calls: string[] = [];
    const named = (name: string): RunInterceptor => ({
      intercept: async (run, next) => {
        calls.push(`${name} before ${run.job}`);
        calls.push(`${name} after ${String(await next())}`);
      },
    });
    await intercept([named('outer'), named('inner')], new FakeRun({ job: 'tick' }), () => calls.push('run'));
    expect(calls).toEqual(['outer before tick', 'inner before tick', 'run', 'inner after 3', 'outer after undefined']);
  });
});
