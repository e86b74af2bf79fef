import { describe, expect, it } from '@jest/globals';
import { useCoreReplicas } from '../../../../test/support/core-replicas.js';

const world = useCoreReplicas();

describe('a lock for which many wait', () => {
  it('is passed on at once, however often another was faster', async () => {
    const waiters = ['a', 'b', 'c', 'd', 'e'].map((id) => world.add(id, { random: 1 }).compete('lock', 'lock'));
    await world.clock.advance(5);
    for (const { election } of waiters) {
      expect(election.term).toBeDefined();
      void election.withdraw('shutdown');
      await world.clock.advance(5);
    }
  });
});
