import { describe, expect, it } from '@jest/globals';
import { defer, map, NEVER, of, throwError } from 'rxjs';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { interval } from '../schedule/interval.js';

describe('A method that returns', () => {
  const replicas = useReplicas();
  const started = async (run: () => unknown) => {
    const a = await replicas.leader([job({ schedule: interval(3_600_000), timeoutMs: 1_000, run })], 2_000);
    return a.observer;
  };

  it('what has not done its work fails the run, also later', async () => {
    const [failed] = (await started(async () => Promise.resolve(() => undefined))).of('runFailed');
    const what = 'a function, which is never called: call it, and return its result';
    expect(failed?.error).toEqual(new Error(`the method of job 'tick' returned ${what}`));
  });

  it('data succeeds', async () => {
    expect((await started(() => [1])).of('runSucceeded')).toHaveLength(1);
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
