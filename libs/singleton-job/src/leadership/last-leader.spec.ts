import { describe, expect, it } from '@jest/globals';
import { job } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';

const origins = ({ observer }: TestReplica) =>
  observer.of('leadershipGained').map(({ because, after }) => (after === undefined ? because : `${because} ${after}`));

describe('A new leader says how it became one:', () => {
  const replicas = useReplicas();

  it('as the first one', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    expect(origins(a)).toEqual(['first']);
  });

  it('after which replica released the lock', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    await a.registry.stepDown('tick', { local: true });
    await replicas.clock.advance(100);
    expect(origins(b)).toEqual(['released a']);
    const resumed = b.registry.pause('tick', { local: true }).then(() => b.registry.resume('tick', { local: true }));
    await replicas.clock.advance(5_000);
    await resumed;
    expect([...origins(a), ...origins(b)]).toContain('released b');
  });

  it('after which killed replica its session ended', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    a.kill();
    await replicas.clock.advance(11_000);
    expect(origins(b)).toEqual(['session-ended a']);
  });

  it.each([8_000, 20_000, 60_000])('after its own session ended in an outage of %i ms', async (outageMs) => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(5_000);
    a.store.partition();
    await replicas.clock.advance(outageMs);
    a.store.heal();
    await replicas.clock.advance(60_000);
    expect(origins(a)).toEqual(['first', 'session-ended a']);
  });

  it('with a free lock, where it has seen nothing of the leader before', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    await a.supervisor.close();
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    expect(origins(b)).toEqual(['lock-free']);
  });

  it('with a free lock, where that of the last leader was deleted', async () => {
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
