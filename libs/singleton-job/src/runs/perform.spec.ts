import { describe, expect, it } from '@jest/globals';
import { defer, map, NEVER, of, throwError } from 'rxjs';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { interval } from '../schedule/interval.js';

describe('A method that returns', () => {
  const replicas = useReplicas();
  const started = async (run: () => unknown) => {
    const a = replicas.start('a', [job({ schedule: interval(3_600_000), timeoutMs: 1_000, run })]);
    await replicas.clock.advance(2_000);
    return a.observer;
  };

  it.each<[what: string, returned: () => unknown, message: string]>([
    [
      'a function, also later',
      async () => Promise.resolve(() => undefined),
      'a function, which nobody calls: call it, and return its result',
    ],
    [
      'a generator, also of another compiler',
      () => ({ next: () => undefined, [Symbol.asyncIterator]: () => undefined }),
      'a generator, whose body nobody runs: read it with for await, and return after that',
    ],
    [
      'promises in an array',
      () => [1, Promise.resolve()],
      'an array of promises, which nobody awaits: return Promise.all() of them',
    ],
  ])('%s has not done its work, and its run fails', async (_what, returned, message) => {
    const [failed] = (await started(returned)).of('runFailed');
    expect(failed?.error).toEqual(new Error(`the method of job 'tick' returned ${message}`));
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['rows', [{ id: 1 }, null]],
    ['a text', 'done'],
  ])('%s has done its work', async (_what, returned) => {
    expect((await started(() => returned)).of('runSucceeded')).toHaveLength(1);
  });

  it('an Observable runs until that completes', async () => {
    const done: number[] = [];
    const observer = await started(() => of(1, 2).pipe(map((value) => done.push(value))));
    expect([done, observer.of('runSucceeded').length]).toEqual([[1, 2], 1]);
  });

  it('an Observable fails with its error', async () => {
    const [failed] = (await started(() => throwError(() => new Error('refused')))).of('runFailed');
    expect(failed?.error).toEqual(new Error('refused'));
  });

  it('an Observable is unsubscribed from when the run is aborted', async () => {
    const [cancelled] = (await started(() => defer(() => NEVER))).of('runCancelled');
    expect(cancelled).toMatchObject({ code: 'TIMEOUT', durationMs: 1_000 });
  });
});
