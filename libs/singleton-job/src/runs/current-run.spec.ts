import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRun } from '../jobs/job-run.js';
import { currentRun, currentRunInterceptor } from './current-run.js';

describe('The current run', () => {
  const replicas = useReplicas();

  it('is the one that the method gets', async () => {
    const isSame: boolean[] = [];
    const run = (given: JobRun) => isSame.push(currentRun() === given);
    replicas.start('a', [job({ run })], { interceptors: [currentRunInterceptor] });
    await replicas.clock.advance(1_000);
    expect(isSame).toEqual([true]);
  });

  it('is known at any depth below the method, of each job its own', async () => {
    const seen: unknown[] = [];
    const below = async () => {
      await Promise.resolve();
      seen.push(currentRun()?.job);
    };
    const run = async () => {
      await below();
    };
    const interceptors = [currentRunInterceptor];
    replicas.start('a', [job({ name: 'one', run }), job({ name: 'two', run })], { interceptors });
    await replicas.clock.advance(1_000);
    expect(seen.toSorted()).toEqual(['one', 'two']);
    expect(currentRun()).toBeUndefined();
  });
});
