import { describe, expect, it, jest } from '@jest/globals';
import { leadership } from '../../../../test/support/event-lines.js';
import { type Outcome } from '../../../../test/support/faulty-store.js';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/without-ticks.js';

const once = interval(3_600_000);
const replicas = useReplicas();

describe('A store that denies writes', () => {
  const denies = (code: Outcome) => (request: string) => (request === 'compareAndSet' ? code : 'answered');

  it('is reported once, and again after 1 min, 2 min and 4 min, although it answers heartbeats', async () => {
    const a = await replicas.leader([job()], 5_000);
    for (const forMs of [300_000, 30_000]) {
      a.store.outcome = denies('STORE_MISCONFIGURED');
      await replicas.clock.advance(forMs);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(15_000);
    }
    const minutes = a.observer.of('requestDenied').map(({ deniedMs }) => Math.round(deniedMs / 60_000));
    expect(minutes).toEqual([0, 1, 2, 4, 0]);
    expect(a.observer.of('leadershipLost')).toEqual([]);
  });

  it('counts an outage from its own beginning', async () => {
    const a = await replicas.leader([job()], 5_000);
    a.store.outcome = denies('STORE_REFUSED_WRITE');
    await replicas.clock.advance(30_000);
    a.store.reconnect();
    await replicas.clock.advance(2_000);
    for (const event of ['storeUnreachable', 'storeRecovered'] as const)
      expect(a.observer.of(event).map(({ outageMs }) => outageMs < 4_000)).toEqual([true]);
  });

  it('is forgotten after a minute by a replica that writes no more', async () => {
    const a = replicas.start('a', [job()]);
    a.store.outcome = denies('STORE_MISCONFIGURED');
    await replicas.clock.advance(100);
    const b = await replicas.another([job()], 300_000);
    await b.pool.stop();
    await replicas.clock.advance(100);
    expect(a.observer.of('requestDenied').map(({ deniedMs }) => deniedMs)).toEqual([0, 0]);
  });
});

describe('A start', () => {
  it('does nothing after a stop', async () => {
    const { pool, store } = replicas.prepare('a', [job()]);
    const open = jest.spyOn(store, 'open');
    await pool.stop();
    pool.start();
    await replicas.clock.advance(5_000);
    expect(open).not.toHaveBeenCalled();
    expect(store.sent).toEqual([]);
  });
});

describe('A stop', () => {
  const lasts = (forMs: number) => lasting(replicas.clock, forMs);

  /** Begins to stop. */
  const stop = ({ pool }: TestReplica, how: 'stop' | 'close' = 'stop') => {
    const stopping = { isOver: false };
    void pool[how]().then(() => (stopping.isOver = true));
    return stopping;
  };

  it('lets a run in flight finish and starts no other', async () => {
    const a = await replicas.leader([job({ run: lasts(3_500) })], 1_500);
    const stopping = stop(a);
    await replicas.clock.advance(3_500);
    expect(stopping.isOver).toBe(true);
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '1000 runStarted schedule',
      '2500 shutdownDelayed schedule',
      '4500 runSucceeded schedule',
      '4500 leadershipReleased shutdown',
    ]);
  });

  it('releases idle jobs at once, and others when their own run has ended', async () => {
    const a = replicas.start('a', [
      job({ name: 'idle', schedule: once }),
      job({ name: 'short', schedule: once, run: lasts(2_000) }),
      job({ name: 'long', schedule: once, run: lasts(5_000) }),
    ]);
    await replicas.clock.advance(1_000);
    stop(a);
    await replicas.clock.advance(7_000);
    expect(a.observer.eventLines.filter((line) => line.includes('Released'))).toEqual([
      '1000 leadershipReleased idle shutdown',
      '2000 leadershipReleased short shutdown',
      '5000 leadershipReleased long shutdown',
    ]);
  });

  it.each<['8s' | '3s', number, number]>([
    ['8s', 1_000, 6_000],
    ['3s', 500, 1_000],
  ])('within %s reports a run after %i ms, and aborts it after %i ms', async (shutdownTimeout, reportMs, abortMs) => {
    const run = lasting(replicas.clock, 60_000, { obedient: true });
    const a = await replicas.leader([job({ schedule: once, run })], 1_000, { options: { shutdownTimeout } });
    stop(a);
    await replicas.clock.advance(abortMs);
    const [elapsedMs, abortInMs] = [1_000 + reportMs, abortMs - reportMs];
    expect(a.observer.of('shutdownDelayed')).toMatchObject([{ elapsedMs, abortInMs }]);
    expect(a.observer.eventLines.slice(2)).toEqual([
      `${String(elapsedMs)} shutdownDelayed schedule`,
      `${String(1_000 + abortMs)} runCancelled schedule SHUTDOWN`,
      `${String(1_000 + abortMs)} leadershipReleased shutdown`,
    ]);
  });

  it('reports a run of @WhileLeader that goes on, although its signal has fired', async () => {
    const a = await replicas.leader([job({ schedule: whileLeader(1_000), run: lasts(5_000) })], 100);
    stop(a);
    await replicas.clock.advance(5_000);
    expect(a.observer.of('shutdownDelayed')).toMatchObject([{ elapsedMs: 1_100, abortInMs: 0 }]);
  });

  it('never releases the lock of a run that ignores its signal', async () => {
    const a = await replicas.leader([job({ schedule: once, run: lasts(60_000) })], 1_000);
    const stopping = stop(a);
    await replicas.clock.advance(6_900);
    expect(stopping.isOver).toBe(false);
    await replicas.clock.advance(100);
    expect(stopping.isOver).toBe(true);
    const b = await replicas.another([job({ schedule: once })], 12_000);
    expect(b.observer.eventLines).toEqual(['8000 leaderChanged a']);
    await a.pool.close();
    expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
    await replicas.clock.advance(10_100);
    expect(leadership(b)).toHaveLength(1);
  });

  it('reports no lost lease and no outage when it closes during a run, and leaves no timer', async () => {
    const a = await replicas.leader([job({ schedule: once, timeoutMs: 600_000, run: lasts(60_000) })], 1_000);
    stop(a, 'close');
    await replicas.clock.advance(8_000);
    // that of the run
    expect(replicas.clock.pendingTimers).toBe(1);
    await replicas.clock.advance(60_000);
    const lines = ['2000 shutdownDelayed schedule', '8000 leadershipReleased shutdown', '60000 runSucceeded schedule'];
    expect(a.observer.eventLines.slice(2)).toEqual(lines);
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false, runInFlight: true }]);
  });

  it.each([
    ['a record that became unknown during a run', 3_050, 300],
    ['the answer to a claim', 3_900, 200],
  ])('waits for %s 2 s at most, if the store is gone', async (_what, goneMs, stopMs) => {
    const a = await replicas.leader([job({ schedule: cron('* * * * * *'), run: lasts(300) })], goneMs);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await replicas.clock.advance(stopMs);
    const stopping = stop(a, 'close');
    await replicas.clock.advance(1_999);
    expect(stopping.isOver).toBe(false);
    await replicas.clock.advance(1);
    expect(stopping.isOver).toBe(true);
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false, runInFlight: false }]);
    expect(a.observer.of('runStarted')).toHaveLength(3);
  });

  it('starts no run for a claim that is answered late; the next leader reports it', async () => {
    const report = job({ name: 'report', schedule: cron('*/10 * * * * *') });
    const a = await replicas.leader([report], 9_900);
    const arrive = a.store.holdAnswers();
    await replicas.clock.advance(200);
    stop(a);
    await replicas.clock.advance(6_200);
    arrive();
    await replicas.clock.advance(1_500);
    expect(a.observer.of('runStarted')).toEqual([]);
    const b = await replicas.another([report], 1_000);
    expect(b.observer.of('runInterrupted')).toMatchObject([{ by: 'a' }]);
  });

  it.each<[string, Partial<Pick<TestReplica['store'], 'delayMs' | 'outcome'>>, number]>([
    ['retries a release while there is time', { outcome: () => 'STORE_UNREACHABLE' }, 6_000],
    ['accepts a late answer to it', { delayMs: 1_500 }, 2_800],
  ])('%s, so that the next leader takes over at once', async (_, network, forMs) => {
    const [a, b] = await replicas.leaderAndFollower([job()], 3_100);
    Object.assign(a.store, network);
    stop(a);
    await replicas.clock.advance(forMs);
    a.store.outcome = () => 'answered';
    await replicas.clock.advance(700);
    expect(leadership(b)).toHaveLength(1);
  });

  it('does not wait for acquire requests that the store denies', async () => {
    const a = replicas.start('a', [job()]);
    a.store.outcome = () => 'STORE_REFUSED_WRITE';
    await replicas.clock.advance(10_000);
    const stopping = stop(a);
    await replicas.clock.advance(0);
    expect(stopping.isOver).toBe(true);
  });

  it('happens once, also if stop() is called several times', async () => {
    const a = await replicas.leader([job()], 100);
    expect(a.pool.stop()).toBe(a.pool.stop());
    await a.pool.stop();
    expect(a.observer.of('leadershipReleased')).toHaveLength(1);
  });
});
