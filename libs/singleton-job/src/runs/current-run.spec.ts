import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRun } from '../jobs/job-run.js';
import { currentRun, currentRunInterceptor } from './current-run.js';

describe('The current run', () => {
  const replicas = useReplicas();

  it('is the one that the method gets, at any depth below it, and of each job its own', async () => {
    const seen: unknown[] = [];
    const run = async (given: JobRun) => {
      await Promise.resolve();
      seen.push([currentRun()?.job, currentRun() === given]);
    };
    const interceptors = [currentRunInterceptor];
    replicas.start('a', [job({ name: 'one', run }), job({ name: 'two', run })], { interceptors });
    await replicas.clock.advance(1_000);
    expect(seen.toSorted()).toEqual([
      ['one', true],
      ['two', true],
    ]);
    expect(currentRun()).toBeUndefined();
  });
});
