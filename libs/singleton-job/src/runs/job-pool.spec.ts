import { describe, expect, it, jest } from '@jest/globals';
import { LockStoreError } from '../base/errors/lock-store.error.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type Outcome } from '../../../../test/support/faulty-store.js';
import { job, lasting } from '../../../../test/support/job.js';
import { leadership } from '../../../../test/support/event-lines.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const once = interval(3_600_000);

describe('A group of replicas', () => {
  const replicas = useReplicas();

  it('runs a job on exactly one of them', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(3_500);
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '1000 runStarted schedule',
      '1000 runSucceeded schedule',
      '2000 runStarted schedule',
      '2000 runSucceeded schedule',
      '3000 runStarted schedule',
      '3000 runSucceeded schedule',
    ]);
    expect(b.observer.eventLines).toEqual(['0 leaderChanged a']);
  });

  it('does not compete for a disabled job', async () => {
    const a = replicas.start('a', [job({ enabled: false }), job({ name: 'other' })]);
    await replicas.clock.advance(100);
    expect(a.observer.of('leadershipGained').map((event) => event.job)).toEqual(['other']);
  });

  it('never lets two runs of a job overlap while its leaders come and go', async () => {
    let inFlight = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => replicas.clock.setTimer(1_300, resolve));
      inFlight -= 1;
    };
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const leader = replicas.start(name, [job({ run })]);
      await replicas.clock.advance(2_500);
      void leader.pool.stop();
    }
    await replicas.clock.advance(5_000);
    expect(most).toBe(1);
  });
});

describe('A store that denies writes', () => {
  const replicas = useReplicas();

  it('is reported once, and again after 1 min, 2 min and 4 min, although it answers heartbeats', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(5_000);
    const deny = async (forMs: number): Promise<void> => {
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'STORE_MISCONFIGURED' : 'answered');
      await replicas.clock.advance(forMs);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(15_000);
    };
    await deny(300_000);
    await deny(30_000);
    const minutes = a.observer.of('requestDenied').map(({ deniedMs }) => Math.round(deniedMs / 60_000));
    expect(minutes).toEqual([0, 1, 2, 4, 0]);
    expect(a.observer.of('leadershipLost')).toEqual([]);
  });

  it('counts an outage from its own beginning', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(5_000);
    a.store.outcome = (request) => (request === 'compareAndSet' ? 'STORE_REFUSED_WRITE' : 'answered');
    await replicas.clock.advance(30_000);
    a.store.reconnect();
    await replicas.clock.advance(2_000);
    expect(a.observer.of('storeUnreachable').map(({ outageMs }) => outageMs < 4_000)).toEqual([true]);
    expect(a.observer.of('storeRecovered').map(({ outageMs }) => outageMs < 4_000)).toEqual([true]);
  });

  it('is forgotten after a minute by a replica that writes no more', async () => {
    const a = replicas.start('a', [job()]);
    a.store.outcome = (request) => (request === 'compareAndSet' ? 'STORE_MISCONFIGURED' : 'answered');
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(300_000);
    await b.pool.stop();
    await replicas.clock.advance(100);
    expect(a.observer.of('requestDenied').map(({ deniedMs }) => deniedMs)).toEqual([0, 0]);
  });
});

describe('A start', () => {
  const replicas = useReplicas();

  it('does nothing after a stop', async () => {
    const { pool, store } = replicas.prepare('a', [job()]);
    const open = jest.spyOn(store, 'open');
    await pool.stop();
    pool.start();
    await replicas.clock.advance(5_000);
    expect(open).not.toHaveBeenCalled();
    expect(store.sent).toEqual([]);
  });

  it('does nothing the second time', async () => {
    const a = replicas.start('a', [job()]);
    a.pool.start();
    await replicas.clock.advance(1_500);
    expect(a.store.count('compareAndSet')).toBe(1);
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '1000 runStarted schedule',
      '1000 runSucceeded schedule',
    ]);
  });
});

describe('A stop', () => {
  const replicas = useReplicas();

  it('lets a run in flight finish and starts no other', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 3_500) })]);
    await replicas.clock.advance(1_500);
    const stopped = a.pool.stop();
    await replicas.clock.advance(3_500);
    await stopped;
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
      job({ name: 'short', schedule: once, run: lasting(replicas.clock, 2_000) }),
      job({ name: 'long', schedule: once, run: lasting(replicas.clock, 5_000) }),
    ]);
    await replicas.clock.advance(1_000);
    void a.pool.stop();
    await replicas.clock.advance(7_000);
    const released = a.observer.events.filter(({ event }) => event === 'leadershipReleased');
    expect(released.map(({ atMs, payload }) => [atMs, 'job' in payload && payload.job])).toEqual([
      [1_000, 'idle'],
      [2_000, 'short'],
      [5_000, 'long'],
    ]);
  });

  it('aborts runs 2 s before shutdownTimeout, and releases their jobs when they end', async () => {
    const a = replicas.start('a', [job({ schedule: once, run: lasting(replicas.clock, 60_000, { obedient: true }) })]);
    await replicas.clock.advance(1_000);
    const stopped = a.pool.stop();
    await replicas.clock.advance(6_000);
    await stopped;
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '0 runStarted schedule',
      '2000 shutdownDelayed schedule',
      '7000 runCancelled schedule SHUTDOWN',
      '7000 leadershipReleased shutdown',
    ]);
  });

  it('reports a run before it aborts it, also with the shortest shutdownTimeout', async () => {
    const run = lasting(replicas.clock, 60_000, { obedient: true });
    const a = replicas.start('a', [job({ schedule: once, run })], { options: { shutdownTimeout: '3s' } });
    await replicas.clock.advance(1_000);
    const stopped = a.pool.stop();
    await replicas.clock.advance(3_000);
    await stopped;
    expect(a.observer.of('shutdownDelayed')).toMatchObject([{ elapsedMs: 1_500, abortInMs: 500 }]);
    expect(a.observer.eventLines.slice(2, 4)).toEqual([
      '1500 shutdownDelayed schedule',
      '2000 runCancelled schedule SHUTDOWN',
    ]);
  });

  it('never releases the lock of a run that ignores its signal', async () => {
    const a = replicas.start('a', [job({ schedule: once, run: lasting(replicas.clock, 60_000) })]);
    await replicas.clock.advance(1_000);
    let hasStopped = false;
    void a.pool.stop().then(() => (hasStopped = true));
    await replicas.clock.advance(6_900);
    expect(hasStopped).toBe(false);
    await replicas.clock.advance(100);
    expect(hasStopped).toBe(true);
    const b = replicas.start('b', [job({ schedule: once })]);
    await replicas.clock.advance(12_000);
    expect(b.observer.eventLines).toEqual(['8000 leaderChanged a']);
    await a.pool.close();
    expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
    await replicas.clock.advance(10_100);
    expect(leadership(b)).toHaveLength(1);
  });

  it('waits for no answer to its releases while the connection is silent', async () => {
    const a = replicas.start('a', [job(), job({ name: 'other' })]);
    await replicas.clock.advance(100);
    a.store.partition();
    let hasStopped = false;
    void a.pool.stop().then(() => (hasStopped = true));
    await replicas.clock.advance(1_600);
    expect(hasStopped).toBe(true);
    await a.pool.close();
    expect(a.observer.of('leadershipReleased').map(({ confirmed }) => confirmed)).toEqual([false, false]);
  });

  it.each([
    ['a record that became unknown during a run', 3_050, 300],
    ['the answer to a claim', 3_900, 200],
  ])('waits 2 s at most for %s, if the store is gone', async (_what, goneMs, stopMs) => {
    const a = replicas.start('a', [job({ schedule: cron('* * * * * *'), run: lasting(replicas.clock, 300) })]);
    await replicas.clock.advance(goneMs);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await replicas.clock.advance(stopMs);
    let hasStopped = false;
    const stopped = a.pool.stop().then(() => (hasStopped = true));
    await replicas.clock.advance(1_999);
    expect(hasStopped).toBe(false);
    await replicas.clock.advance(1);
    await stopped;
    await a.pool.close();
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false, runInFlight: false }]);
    expect(a.observer.of('runStarted')).toHaveLength(3);
  });

  it('starts no run for a claim that is answered late; the next leader reports it', async () => {
    const secondly = cron('*/10 * * * * *', { timeZone: 'UTC' });
    const report = () => job({ name: 'report', schedule: secondly });
    const a = replicas.start('a', [report()]);
    await replicas.clock.advance(9_900);
    const arrive = a.store.holdAnswers();
    await replicas.clock.advance(200);
    void a.pool.stop();
    await replicas.clock.advance(6_200);
    arrive();
    await replicas.clock.advance(1_500);
    expect(a.observer.of('runStarted')).toEqual([]);
    const b = replicas.start('b', [report()]);
    await replicas.clock.advance(1_000);
    expect(b.observer.of('runInterrupted')).toMatchObject([{ by: 'a' }]);
  });

  it('reports no lost lease and no outage when it closes during a run', async () => {
    const a = replicas.start('a', [job({ schedule: once, timeoutMs: 600_000, run: lasting(replicas.clock, 60_000) })]);
    await replicas.clock.advance(1_000);
    const closed = a.pool.close();
    await replicas.clock.advance(8_000);
    await closed;
    // only the run's own timer is left: nothing of the library keeps the process alive
    expect(replicas.clock.pendingTimers).toBe(1);
    await replicas.clock.advance(60_000);
    const lines = ['2000 shutdownDelayed schedule', '8000 leadershipReleased shutdown', '60000 runSucceeded schedule'];
    expect(a.observer.eventLines.slice(2)).toEqual(lines);
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false, runInFlight: true }]);
  });

  it('retries a release while there is time, so that the next leader takes over at once', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(3_100);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    void a.pool.stop();
    await replicas.clock.advance(6_000);
    a.store.outcome = () => 'answered';
    await replicas.clock.advance(700);
    expect(leadership(b)).toHaveLength(1);
  });

  it('sends a release again after its connection was closed', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    let isFirst = true;
    a.store.outcome = (request) => {
      if (request !== 'compareAndSet' || !isFirst) return 'answered';
      isFirst = false;
      return 'request-lost';
    };
    void a.pool.stop();
    await replicas.clock.advance(2_000);
    expect(leadership(a).at(-1)).toMatch(/^18\d\d leadershipReleased shutdown$/);
    expect(leadership(b)).toHaveLength(1);
  });

  it('accepts a late answer, so that a slow connection does not delay the hand-over', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    a.store.delayMs = 1_500;
    void a.pool.stop();
    await replicas.clock.advance(3_500);
    expect(leadership(b)).toHaveLength(1);
  });

  it.each<Outcome>(['STORE_MISCONFIGURED', 'STORE_REFUSED_WRITE'])(
    'does not wait for acquire requests that the store answers with %s',
    async (outcome) => {
      const a = replicas.start('a', [job()], { network: { outcome: () => outcome } });
      await replicas.clock.advance(10_000);
      let hasStopped = false;
      void a.pool.stop().then(() => (hasStopped = true));
      await replicas.clock.advance(0);
      expect(hasStopped).toBe(true);
    },
  );

  it('ends at once when the last acquire request is refused', async () => {
    let refuse: (error: Error) => void = () => undefined;
    const a = replicas.start('a', [job()], {
      network: { answersAfter: new Promise<void>((_, reject) => (refuse = reject)) },
    });
    await replicas.clock.advance(100);
    let hasStopped = false;
    void a.pool.stop().then(() => (hasStopped = true));
    a.store.answersAfter = undefined;
    refuse(new LockStoreError('STORE_MISCONFIGURED', 'NOPERM'));
    await replicas.clock.advance(100);
    expect(hasStopped).toBe(true);
  });

  it('happens once, also if stop() is called several times', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    expect(a.pool.stop()).toBe(a.pool.stop());
    await a.pool.stop();
    expect(a.observer.of('leadershipReleased')).toHaveLength(1);
  });

  it('does nothing before the start', async () => {
    const a = replicas.start('a', []);
    await a.pool.stop();
    await a.pool.close();
    expect(a.store.sent).toEqual([]);
  });
});
