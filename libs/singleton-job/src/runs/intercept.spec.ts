import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { LeaseLostError } from '../base/errors/run.errors.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { FakeRun } from '../testing/index.js';
import { settle } from '../testing/manual-clock.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { intercept } from './intercept.js';

const runs = (lines: readonly string[]) => lines.filter((line) => /run/.test(line));

describe('Interceptors', () => {
  const replicas = useReplicas();

  it('wrap each run, the first outermost', async () => {
    const calls: string[] = [];
    const around = (name: string): RunInterceptor => ({
      intercept: async (run, next) => {
        calls.push(`${name} before ${run.job}`);
        const result = await next();
        calls.push(`${name} after ${String(result)}`);
        return result;
      },
    });
    const work = job({ run: () => calls.push('run') });
    replicas.start('a', [work], { interceptors: [around('outer'), around('inner')] });
    await replicas.clock.advance(1_000);
    expect(calls).toEqual(['outer before tick', 'inner before tick', 'run', 'inner after 3', 'outer after 3']);
  });

  it('give the job a context', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const work = job({
      run: async () => {
        seen.push(storage.getStore());
        await Promise.resolve();
        seen.push(storage.getStore());
      },
    });
    const contextual: RunInterceptor = { intercept: (run, next) => storage.run(`run of ${run.job}`, next) };
    replicas.start('a', [work], { interceptors: [contextual] });
    await replicas.clock.advance(1_000);
    expect(seen).toEqual(['run of tick', 'run of tick']);
  });

  it('that take long after the job has failed cause no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const slow: RunInterceptor = {
      intercept: async (_, next) => {
        const begun = next();
        await new Promise<void>((resolve) => replicas.clock.setTimer(300, resolve));
        return begun;
      },
    };
    const a = replicas.start('a', [job({ run: () => Promise.reject(new Error('lost')) })], { interceptors: [slow] });
    await replicas.clock.advance(1_100);
    await settle();
    await replicas.clock.advance(400);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(a.observer.of('runFailed')).toMatchObject([{ error: { message: 'lost' } }]);
  });

  it.each<[string, RunInterceptor['intercept']]>([
    [
      'throw',
      () => {
        throw new Error('no transaction');
      },
    ],
    ['reject', () => Promise.reject(new Error('no transaction'))],
  ])('that %s fail the run', async (_, throwing) => {
    let began = 0;
    const a = replicas.start('a', [job({ run: () => (began += 1) })], { interceptors: [{ intercept: throwing }] });
    await replicas.clock.advance(2_000);
    expect(began).toBe(0);
    expect(a.observer.of('runFailed')).toMatchObject([{ error: { message: 'no transaction' } }, {}]);
  });

  it('that never call next keep the job from running', async () => {
    let began = 0;
    const a = replicas.start('a', [job({ run: () => (began += 1) })], {
      interceptors: [{ intercept: () => undefined }],
    });
    await replicas.clock.advance(1_000);
    expect([began, a.observer.of('runSucceeded').length]).toEqual([0, 1]);
  });

  it('see what the job throws, and may handle it', async () => {
    const work = job({
      run: () => {
        throw new Error('no feed');
      },
    });
    const passing: RunInterceptor = { intercept: (_, next) => next() };
    const a = replicas.start('a', [work], { interceptors: [passing] });
    const b = replicas.start('b', [{ ...work, name: 'tock' }], {
      interceptors: [{ intercept: (_, next) => next().catch(() => 0) }],
    });
    await replicas.clock.advance(1_000);
    expect(runs(a.observer.eventLines)).toEqual(['1000 runStarted schedule', '1000 runFailed schedule']);
    expect(runs(b.observer.eventLines)).toEqual(['1000 runStarted schedule', '1000 runSucceeded schedule']);
  });

  it('that do not wait for the job do not end its run or the process', async () => {
    let began = 0;
    const work = job({
      run: async (run) => {
        began += 1;
        await lasting(replicas.clock, 1_500)(run);
        throw new Error('no feed');
      },
    });
    const careless: RunInterceptor = { intercept: (_, next) => void next() };
    const a = replicas.start('a', [work], { interceptors: [careless] });
    await replicas.clock.advance(2_600);
    expect(runs(a.observer.eventLines)).toEqual(['1000 runStarted schedule', '2500 runSucceeded schedule']);
    expect(began).toBe(1);
  });

  it('that call next twice run the job once', async () => {
    let began = 0;
    const eager: RunInterceptor = { intercept: async (_, next) => [await next(), await next()] };
    replicas.start('a', [job({ run: () => (began += 1) })], { interceptors: [eager] });
    await replicas.clock.advance(1_000);
    expect(began).toBe(1);
  });

  it('get the signal of the run, after which the job does not begin', async () => {
    let began = 0;
    const slow: RunInterceptor = {
      intercept: async (run, next) => {
        await new Promise((resolve) => {
          run.signal.addEventListener('abort', resolve);
        });
        return next();
      },
    };
    const work = job({ run: () => (began += 1), timeoutMs: 500 });
    const a = replicas.start('a', [work], { interceptors: [slow] });
    await replicas.clock.advance(1_600);
    expect(runs(a.observer.eventLines)).toEqual(['1000 runStarted schedule', '1500 runCancelled schedule TIMEOUT']);
    expect(began).toBe(0);
  });

  it('that go on past the deadline before any timer do not begin the job', async () => {
    let began = 0;
    const run = new FakeRun();
    const slow: RunInterceptor = {
      intercept: (_, next) => {
        run.loseLease();
        return next();
      },
    };
    await expect(intercept([slow], run, () => (began += 1))).rejects.toThrow(LeaseLostError);
    expect(began).toBe(0);
  });
});
