import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { LeaseLostError } from '../base/errors/run.errors.js';
import { interval } from '../schedule/interval.js';
import { job, lasting } from '../../../../test/support/job.js';
import { keptLog } from '../../../../test/support/kept-log.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const runs = (lines: readonly string[]) => lines.filter((line) => /run[SFC]/.test(line));
const once = interval(3_600_000);
const never = (): Promise<void> => new Promise(() => undefined);

function explode(): never {
  throw new Error('looked at');
}

/** Throws at whatever is done to it. */
function mine(): object {
  return new Proxy({}, { get: explode, has: explode, getPrototypeOf: explode, ownKeys: explode });
}

function rejecting(reason: unknown): () => Promise<never> {
  return async () => {
    throw reason as Error;
  };
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function errorWith(key: 'message' | 'stack' | 'name' | 'cause'): Error {
  return Object.defineProperty(new Error('boom'), key, { get: explode });
}

/** What a job can throw in JavaScript, beyond errors, and its text in the log. */
const THROWN: readonly (readonly [string, () => unknown, string | RegExp])[] = [
  ['nothing', () => undefined, 'undefined'],
  ['null', () => null, 'null'],
  ['a text', () => 'boom', "'boom'"],
  ['a number', () => 42, '42'],
  ['a symbol', () => Symbol('boom'), 'Symbol(boom)'],
  ['a big integer', () => 42n, '42n'],
  ['a function', () => explode, '[Function: explode]'],
  ['an object without a prototype', (): unknown => Object.create(null), '[Object: null prototype] {}'],
  ['an object that is frozen', () => Object.freeze({ boom: true }), '{ boom: true }'],
  ['an error that is frozen', () => Object.freeze(new Error('boom')), 'boom'],
  ['an object whose properties throw', () => Object.defineProperty({}, 'code', { get: explode }), '{}'],
  ['an object that throws at being text', () => ({ toString: explode, toJSON: explode }), /^\{ toString/],
  ['an object that throws at being shown', () => ({ [inspect.custom]: explode }), 'something that cannot be shown'],
  ['a proxy that throws at everything', mine, '{}'],
  ['a proxy that was revoked', revoked, '<Revoked Proxy>'],
  ['an error whose message throws', () => errorWith('message'), 'something that cannot be shown'],
  ['an error whose stack throws', () => errorWith('stack'), 'boom'],
  ['an error whose name throws', () => errorWith('name'), 'boom'],
  ['an error whose cause throws', () => errorWith('cause'), 'boom'],
  ['many errors in one', () => new AggregateError([new Error('one'), undefined], 'two at once'), 'two at once'],
  ['a message of several lines', () => new Error('first\n  second\r\nthird'), 'first second third'],
  ['a message of five million letters', () => new Error('x'.repeat(5_000_000)), /^x{1000}…$/],
  ['an error of another realm', (): unknown => runInNewContext("new Error('boom')"), /^Error: boom/],
];

describe('A misbehaving job', () => {
  const replicas = useReplicas();

  /** A job that ends badly, its run twice, and what the log says of it. */
  const failTwice = async (run: (run: JobRun) => unknown) => {
    const log = keptLog();
    const a = replicas.start('a', [job({ run })], { observers: [log.observer] });
    await replicas.clock.advance(2_000);
    expect(runs(a.observer.eventLines)).toEqual([
      '1000 runStarted schedule',
      '1000 runFailed schedule',
      '2000 runStarted schedule',
      '2000 runFailed schedule',
    ]);
    expect(a.observer.of('observerFailed')).toEqual([]);
    return log.lines;
  };

  it.each(THROWN)('fails in one short line of the log when it throws %s, and continues', async (_what, make, text) => {
    const lines = await failTwice(() => {
      throw make() as Error;
    });
    expect(lines).toHaveLength(2);
    const [, message = ''] = /^error \[test:tick\] failed after 0 ms: (.*)$/.exec(lines[0] ?? '') ?? [];
    expect(message).toMatch(text);
    expect(message.length).toBeLessThanOrEqual(1_001);
  });

  it.each<[string, (run: JobRun) => unknown]>([
    ['rejects with nothing', rejecting(undefined)],
    ['rejects with a proxy that throws at everything', rejecting(mine())],
    [
      'rejects with the reason of its signal, which has not fired',
      ({ signal }) => Promise.reject(signal.reason as Error),
    ],
    ['returns a proxy that throws at everything', mine],
    ['returns a thenable that throws', () => ({ then: explode })],
    [
      'returns a thenable that rejects, and then throws and resolves',
      () => ({
        then: (resolve: () => void, reject: (error: Error) => void) => {
          reject(new Error('first'));
          resolve();
          explode();
        },
      }),
    ],
    [
      'rejects long after another promise of its own did',
      async () => {
        const failing = Promise.reject(new Error('handled'));
        await failing.catch(() => undefined);
        throw new Error('boom');
      },
    ],
  ])('fails once when it %s', async (_how, run) => {
    expect(await failTwice(run)).toHaveLength(2);
  });

  it.each<[string, () => unknown]>([
    ['a function', () => explode],
    ['an object with a then that is no function', () => ({ then: 42 })],
    ['a frozen object', () => Object.freeze([1])],
    ['an error, which it does not throw', () => new Error('boom')],
    [
      'a thenable that resolves twice, and then rejects and throws',
      () => ({
        then: (resolve: () => void, reject: (error: Error) => void) => {
          resolve();
          resolve();
          reject(new Error('too late'));
          explode();
        },
      }),
    ],
  ])('succeeds once when it returns %s', async (_what, run) => {
    const a = replicas.start('a', [job({ run })]);
    await replicas.clock.advance(1_000);
    expect(runs(a.observer.eventLines)).toEqual(['1000 runStarted schedule', '1000 runSucceeded schedule']);
  });

  describe('that never ends', () => {
    it.each<[string, () => unknown]>([
      ['a promise that never settles', never],
      ['a thenable that never calls back', () => ({ then: () => undefined })],
    ])('with %s, is led by another replica once its lease is lost', async (_what, run) => {
      const a = replicas.start('a', [job({ run }), job({ name: 'other' })]);
      await replicas.clock.advance(1_500);
      const b = replicas.start('b', [job()]);
      replicas.server.loseRecord('tick:lock');
      await replicas.clock.advance(640_000);

      expect(a.observer.of('runStarted').filter((started) => started.job === 'tick')).toHaveLength(1);
      expect(b.observer.of('runStarted').length).toBeGreaterThan(500);
      expect(a.observer.of('runStarted').filter((started) => started.job === 'other').length).toBeGreaterThan(500);
    });

    it('delays a stop by shutdownTimeout at most, also long after its lease was lost', async () => {
      const a = replicas.start('a', [job({ schedule: once, run: never })]);
      await replicas.clock.advance(1_000);
      replicas.server.loseRecord('tick:lock');
      await replicas.clock.advance(60_000);
      let hasStopped = false;
      void a.pool.stop().then(() => (hasStopped = true));
      await replicas.clock.advance(8_000);
      expect(hasStopped).toBe(true);
    });
  });

  it('is cancelled, not failed, by anything it throws after its signal has fired', async () => {
    const run = ({ signal }: JobRun) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          rejecting(mine())().catch(reject);
        });
      });
    const a = replicas.start('a', [job({ schedule: once, timeoutMs: 500, run })]);
    await replicas.clock.advance(1_000);
    expect(runs(a.observer.eventLines)).toEqual(['0 runStarted schedule', '500 runCancelled schedule TIMEOUT']);
  });

  it('can check the lease of its run after its end', async () => {
    const kept: JobRun[] = [];
    const a = replicas.start('a', [job({ schedule: once, run: (run) => kept.push(run) })]);
    await replicas.clock.advance(1_000);
    const [run] = kept;
    expect(() => run?.assertLeader()).not.toThrow();
    await a.pool.stop();
    expect(() => run?.assertLeader()).toThrow(LeaseLostError);
    expect(run?.signal.aborted).toBe(false);
  });

  it('that waits for the stop of its own application delays it by shutdownTimeout at most', async () => {
    let stop = never;
    const a = replicas.start('a', [job({ run: () => stop() }), job({ name: 'other', schedule: once })]);
    stop = () => a.pool.close();
    await replicas.clock.advance(9_000);
    expect(a.observer.eventLines.slice(-5)).toEqual([
      '1000 runStarted tick schedule',
      '1000 leadershipReleased other shutdown',
      '2000 shutdownDelayed tick schedule',
      '8000 leadershipReleased tick shutdown',
      '8000 runSucceeded tick schedule',
    ]);
  });

  it('that stops its application without waiting ends well, and its lock is released', async () => {
    let stop = never;
    const run = (): void => void stop();
    const a = replicas.start('a', [job({ schedule: once, run })]);
    stop = () => a.pool.stop();
    await replicas.clock.advance(0);
    expect(a.observer.eventLines).toEqual([
      '0 leadershipGained',
      '0 runStarted schedule',
      '0 runSucceeded schedule',
      '0 leadershipReleased shutdown',
    ]);
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
      const jobs = Array.from({ length: 30 }, (_, index) =>
        job({ name: `job-${String(index)}`, overlap: 'cancel-other' }),
      );
      const slow = job({ name: 'slow', run: lasting(replicas.clock, 9_300) });
      const stubborn = job({ name: 'stubborn', overlap: 'cancel-other', run: lasting(replicas.clock, 1_300) });
      const a = replicas.start('a', [...jobs, slow, stubborn]);
      replicas.start('b', [...jobs, slow, stubborn]);
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
