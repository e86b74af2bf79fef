import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { currentRun, currentRunInterceptor } from './current-run.js';

describe('The current run', () => {
  const replicas = useReplicas();

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
