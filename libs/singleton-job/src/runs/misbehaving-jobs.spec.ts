import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job, lasting } from '../../../../test/support/job.js';
import { keptLog } from '../../../../test/support/kept-log.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const endsOf = ({ observer }: TestReplica) => observer.eventLines.filter((line) => /run(Suc|F|C)/.test(line));
const never = (): Promise<void> => new Promise(() => undefined);

function explode(): never {
  throw new Error('looked at');
}

/** Throws at whatever is done to it. */
function mine(): object {
  return new Proxy({}, { get: explode, has: explode, getPrototypeOf: explode, ownKeys: explode });
}

function throwing(reason: unknown): () => never {
  return () => {
    throw reason as Error;
  };
}

function rejecting(reason: unknown): () => Promise<never> {
  return async () => {
    throw reason as Error;
  };
}

const thenable = (then: (resolve: () => void, reject: (error: Error) => void) => void) => () => ({ then });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('A misbehaving job', () => {
  const replicas = useReplicas();

  it.each<[string, (run: JobRun) => unknown]>([
    ['throws nothing', throwing(undefined)],
    ['throws a proxy that throws at everything', throwing(mine())],
    ['rejects with nothing', rejecting(undefined)],
    ['rejects with a proxy that was revoked', rejecting(revoked())],
    [
      'rejects with the reason of its signal, which has not fired',
      ({ signal }) => Promise.reject(signal.reason as Error),
    ],
    ['returns a proxy that throws at everything', mine],
    ['returns a thenable that throws', thenable(explode)],
    [
      'returns a thenable that rejects, and then throws and resolves',
      thenable((resolve, reject) => {
        reject(new Error('first'));
        resolve();
        explode();
      }),
    ],
  ])('fails once when it %s', async (_how, run) => {
    const log = keptLog();
    const a = replicas.start('a', [job({ run })], { observers: [log.observer] });
    await replicas.clock.advance(2_000);
    expect(endsOf(a)).toEqual(['1000 runFailed schedule', '2000 runFailed schedule']);
    expect(a.observer.of('observerFailed')).toEqual([]);
    expect(log.lines).toHaveLength(2);
  });

  it.each<[string, () => unknown]>([
    ['an object with a then that is no function', () => ({ then: 42 })],
    ['an error, which it does not throw', () => new Error('boom')],
    [
      'a thenable that resolves twice, and then rejects and throws',
      thenable((resolve, reject) => {
        resolve();
        resolve();
        reject(new Error('too late'));
        explode();
      }),
    ],
  ])('succeeds once when it returns %s', async (_what, run) => {
    const a = replicas.start('a', [job({ run })]);
    await replicas.clock.advance(1_000);
    expect(endsOf(a)).toEqual(['1000 runSucceeded schedule']);
  });

  it.each<[string, () => unknown]>([
    ['a promise that never settles', never],
    ['a thenable that never calls back', thenable(() => undefined)],
  ])('with %s, delays its own job only: another replica leads it once its lease is lost', async (_what, run) => {
    const a = replicas.start('a', [job({ run }), job({ name: 'other' })]);
    await replicas.clock.advance(1_500);
    const b = replicas.start('b', [job()]);
    replicas.server.loseRecord('tick:lock');
    await replicas.clock.advance(60_000);
    const started = a.observer.of('runStarted').map((info) => info.job);
    expect(started.filter((name) => name === 'tick')).toHaveLength(1);
    expect(started.filter((name) => name === 'other')).toHaveLength(61);
    expect(b.observer.of('runStarted').length).toBeGreaterThan(30);
    // and a stop by shutdownTimeout at most
    let hasStopped = false;
    void a.pool.stop().then(() => (hasStopped = true));
    await replicas.clock.advance(8_000);
    expect(hasStopped).toBe(true);
  });

  it('that adds listeners to its signal leaves nothing behind after its run', async () => {
    const signals: WeakRef<AbortSignal>[] = [];
    const run = ({ signal }: JobRun): void => {
      signals.push(new WeakRef(signal));
      const ballast = new Array(1_000).fill(signal);
      for (let count = 0; count < 10; count++) signal.addEventListener('abort', () => ballast.length);
    };
    replicas.start('a', [job({ timeoutMs: 60_000, run })]);
    await replicas.clock.advance(20_000);
    // the target of a weak reference that was read lives until the end of the turn
    await replicas.clock.advance(100);
    collectGarbage();
    expect(signals).toHaveLength(20);
    // V8 itself may keep what it compiled one of the runs with
    expect(signals.filter((signal) => signal.deref() !== undefined).length).toBeLessThanOrEqual(1);
  });

  it('that adds no listeners causes no warning about leaks', async () => {
    const warnings: string[] = [];
    // Node warns the process, and not the stand-in for it that tests are given
    const realProcess = runInThisContext('process') as NodeJS.Process;
    const warn = ({ name, message }: Error): void => {
      if (name === 'MaxListenersExceededWarning') warnings.push(message);
    };
    realProcess.on('warning', warn);
    try {
      const names = Array.from({ length: 30 }, (_, index) => `job-${String(index)}`);
      const jobs = names.map((name) => job({ name, overlap: 'cancel-other' }));
      jobs.push(job({ name: 'slow', run: lasting(replicas.clock, 9_300) }));
      jobs.push(job({ name: 'stubborn', overlap: 'cancel-other', run: lasting(replicas.clock, 1_300) }));
      const [a] = [replicas.start('a', jobs), replicas.start('b', jobs)];
      await replicas.clock.advance(60_000);
      a.store.outcome = () => 'STORE_UNREACHABLE';
      await replicas.clock.advance(60_000);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(60_000);
      await a.pool.close();
      expect(warnings).toEqual([]);
    } finally {
      realProcess.off('warning', warn);
    }
  });
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
