import { describe, expect, it } from '@jest/globals';
import { job } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';

const origins = ({ observer }: TestReplica) =>
  observer.of('leadershipGained').map(({ because, after }) => (after === undefined ? because : `${because} ${after}`));

describe('A new leader reports why it leads:', () => {
  const replicas = useReplicas();

  it('it is the first leader', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    expect(origins(a)).toEqual(['first']);
  });

  it('the named replica has released the lock', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    await a.registry.stepDown('tick');
    await replicas.clock.advance(100);
    expect(origins(b)).toEqual(['released a']);
    await b.registry.stepDown('tick');
    await replicas.clock.advance(5_000);
    expect([...origins(a), ...origins(b)]).toContain('released b');
  });

  it('the session of the named replica has ended', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    a.kill();
    await replicas.clock.advance(11_000);
    expect(origins(b)).toEqual(['session-ended a']);
  });

  it.each([8_000, 20_000, 60_000])('its own session ended in an outage of %i ms', async (outageMs) => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(5_000);
    a.store.partition();
    await replicas.clock.advance(outageMs);
    a.store.heal();
    await replicas.clock.advance(60_000);
    expect(origins(a)).toEqual(['first', 'session-ended a']);
  });

  it('the lock was free, if it never saw the leader before', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    await a.pool.close();
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    expect(origins(b)).toEqual(['lock-free']);
  });

  it('the lock was free, if the lock of the last leader was deleted', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    a.store.outcome = (_request, name) => (name === 'tick' ? 'STORE_UNREACHABLE' : 'answered');
    replicas.server.free('tick');
    await replicas.clock.advance(90_000);
    expect(origins(b)).toEqual(['lock-free a']);
  });
});
