import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { onWrite } from '../../../../test/support/faulty-store.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { messageOf } from '../base/errors/message-of.js';
import { StoreError } from '../base/errors/store.error.js';
import { lockRecord, PAUSE_OF_ALL } from '../leadership/record.js';
import { resolveOptions } from '../options/resolve-options.js';
import { LockHandle } from './lock-handle.js';
import { type LockKey, type LockOptions } from './lock-request.js';
import { LockLostError, LocksClosedError, LockUnavailableError } from './lock.errors.js';
import { LockService } from './lock.service.js';

const KEY = 'nightly-import';
const RECORD = lockRecord(KEY);

describe('LockService', () => {
  const replicas = useReplicas();

  /** A process that locks, on the common clock and server. */
  function start(id: string) {
    const { replica, store } = replicas.prepare(id, []);
    const options = resolveOptions({ projectName: 'test', store });
    return { locks: new LockService({ options, replica }), store, replica };
  }
  type Process = ReturnType<typeof start>;

  async function acquired({ locks }: Process, key: LockKey = KEY, options?: LockOptions): Promise<LockHandle> {
    const handle = await soon(locks.tryAcquire(key, options));
    if (handle === null) throw new Error('another holder has the lock');
    return handle;
  }

  /** `a` holds the lock, and `b` does not. */
  async function held() {
    const [a, b] = [start('a'), start('b')];
    return { a, b, handle: await acquired(a) };
  }

  /** What a promise resolves to while no time passes. */
  async function soon<T>(promise: Promise<T>): Promise<T> {
    const [atMs] = await timed(promise, 0);
    expect(atMs).toBe(Math.round(replicas.clock.now()));
    return promise;
  }

  /** The outcome of a promise, and when there was one, at most so much later. */
  async function timed<T>(promise: Promise<T>, withinMs: number): Promise<readonly [number, T | Error | 'open']> {
    let result: readonly [number, T | Error | 'open'] = [NaN, 'open'];
    const settle = (outcome: T | Error): void => {
      result = [Math.round(replicas.clock.now()), outcome];
    };
    promise.then(settle, settle);
    await replicas.clock.advance(withinMs);
    return result;
  }

  const holder = (): string | undefined => {
    const { value } = replicas.server.snapshot().records.get(RECORD) ?? {};
    return value === undefined ? undefined : (JSON.parse(value) as { holder?: string }).holder;
  };
  /** No election of a released lock stays in the table of a replica. */
  const elections = (...processes: readonly Process[]) =>
    processes.flatMap(({ replica }) => replica.elections.flatMap(({ name }) => (name === PAUSE_OF_ALL ? [] : name)));

  describe('grants a lock', () => {
    it('to one holder, and returns null to all others until it is released', async () => {
      const { a, b, handle } = await held();
      expect(inspect(handle)).toBe(`LockHandle { key: 'lock/nightly-import', fencingToken: ${handle.fencingToken} }`);
      expect(await soon(a.locks.tryAcquire(KEY))).toBeNull();
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      expect(await soon(handle.release())).toBe(true);
      expect((await acquired(b)).fencingToken).toBeGreaterThan(handle.fencingToken);
    });

    it('with a read and a write, which lives as long as the lease of its replica', async () => {
      const [a, b] = [start('a'), start('b')];
      await soon((await acquired(a)).release());
      const before = a.store.sent.length;
      const handle = await acquired(a);
      const sent = () => a.store.sent.slice(before).map(({ request }) => request);
      expect(sent().slice(0, 2)).toEqual(['sync', 'compareAndSet']);
      await replicas.clock.advance(3_600_000);
      expect([handle.isHeld(), handle.signal.aborted]).toEqual([true, false]);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      expect(sent().filter((request) => request === 'compareAndSet')).toEqual(['compareAndSet']);
      await soon(handle.release());
      expect([handle.isHeld(), handle.signal.aborted, elections(a, b)]).toEqual([false, false, []]);
    });
  });

  describe('lets a call wait', () => {
    it('that is woken by the release, or when the lease of a killed process ends', async () => {
      const { a, b, handle } = await held();
      const waited = b.locks.tryAcquire(KEY, { wait: '50s' });
      await replicas.clock.advance(40_000);
      await soon(handle.release());
      expect(await timed(waited, 0)).toEqual([40_000, expect.any(LockHandle)]);
      b.store.partition();
      const [at, next] = await timed(a.locks.tryAcquire(KEY, { wait: '60s' }), 60_000);
      expect([at, next]).toEqual([50_000, expect.any(LockHandle)]);
    });

    it('not longer than wait, also if that is shorter than a request may take', async () => {
      const { a, b } = await held();
      expect(await timed(b.locks.tryAcquire(KEY, { wait: '150ms' }), 5_000)).toEqual([150, null]);
      expect(elections(a, b)).toEqual([RECORD]);
    });

    it.each([
      ['is granted the lock whose take is under way at the end of wait', 12, [5_003, expect.any(LockHandle)]],
      ['is told at the end of wait that another has it, although another call has just begun', -1, [5_000, null]],
    ])('that %s', async (_what, releasedMs, expected) => {
      const { a, b, handle } = await held();
      await acquired(b, 'another');
      for (const { store } of [a, b]) store.delayMs = 5;
      const waited = b.locks.tryAcquire(KEY, { wait: '5s' });
      replicas.clock.setTimer(5_000 - releasedMs, () => void handle.release());
      replicas.clock.setTimer(4_998, () => void b.locks.tryAcquire(KEY));
      expect(await timed(waited, 6_000)).toEqual(expected);
    });

    it('among others of all processes, of which one at a time has the lock', async () => {
      const [a, b] = [start('a'), start('b')];
      const turns: string[] = [];
      let inside = 0;
      const work = async ({ locks, replica }: Process): Promise<void> => {
        await locks.withLock(KEY, { wait: '5m' }, async () => {
          turns.push(`${replica.id}${++inside}`);
          await replicas.clock.sleep(700);
          inside -= 1;
        });
      };
      const all = Promise.all([a, a, a, a, b, b, b, b].map(work));
      await replicas.clock.advance(30_000);
      await all;
      expect(turns).toEqual(['a1', 'b1', 'a1', 'b1', 'a1', 'b1', 'a1', 'b1']);
      expect(elections(a, b)).toEqual([]);
    });

    it('until its signal aborts, and leaves nothing behind', async () => {
      const { a, b, handle } = await held();
      const controller = new AbortController();
      const waited = b.locks.tryAcquire(KEY, { wait: '60s', signal: controller.signal });
      await replicas.clock.advance(500);
      controller.abort(new Error('the request was cancelled'));
      await expect(soon(waited)).rejects.toThrow('the request was cancelled');
      await soon(handle.release());
      expect([holder(), elections(a, b)]).toEqual([undefined, []]);
    });

    it('and releases a lock that is granted after the wait', async () => {
      const a = start('a');
      const controller = new AbortController();
      a.store.delayMs = 100;
      const waited = a.locks.tryAcquire(KEY, { signal: controller.signal });
      await replicas.clock.advance(150);
      controller.abort();
      await expect(soon(waited)).rejects.toBe(controller.signal.reason);
      expect(holder()).toMatch(/^a\.1@10000#\d+$/);
      await replicas.clock.advance(1_000);
      expect([holder(), elections(a)]).toEqual([undefined, []]);
    });

    it('not at all if its signal has fired before', async () => {
      const a = start('a');
      await expect(a.locks.tryAcquire(KEY, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
      expect(a.store.sent).toEqual([]);
    });
  });

  describe('rejects because the holder is not known', () => {
    it.each(['request-lost', 'STORE_MISCONFIGURED', 'STORE_REFUSED_WRITE'] as const)(
      'when Redis does not answer in two seconds: %s',
      async (outcome) => {
        const a = start('a');
        a.store.outcome = () => outcome;
        const [at, error] = await timed(a.locks.tryAcquire(KEY), 60_000);
        expect([at, error]).toEqual([2_000, expect.any(StoreError)]);
        expect(error).toMatchObject({ code: outcome.startsWith('STORE') ? outcome : 'STORE_UNREACHABLE' });
        expect(elections(a)).toEqual([]);
      },
    );

    it('when Redis writes nothing, and releases in the background what may have been granted', async () => {
      const a = start('a');
      a.store.outcome = onWrite('answer-lost');
      const [at, error] = await timed(a.locks.tryAcquire(KEY), 4_000);
      expect([at, messageOf(error)]).toEqual([
        2_000,
        "it is not known who holds the lock 'nightly-import': memory did not answer in time (the connection was closed)",
      ]);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(20_000);
      expect([holder(), elections(a)]).toEqual([undefined, []]);
    });

    it('and leaves no lock with a call that is just being rejected', async () => {
      const a = start('a');
      let arrive = (): void => undefined;
      a.store.outcome = (request) => {
        if (request === 'compareAndSet') arrive = a.store.holdAnswers();
        return 'answered';
      };
      for (let microtasks = 0; microtasks < 5; microtasks++) {
        const result = a.locks.tryAcquire(KEY).catch(() => null);
        await replicas.clock.advance(1_999);
        const blocked = replicas.clock.block(2);
        arrive();
        for (let done = 0; done < microtasks; done++) await Promise.resolve();
        a.replica.find(RECORD)?.enqueue();
        await blocked;
        void (await soon(result))?.release();
        await replicas.clock.advance(0);
        arrive();
        await replicas.clock.advance(1_000);
        expect([microtasks, elections(a)]).toEqual([microtasks, []]);
      }
    });

    it('when Redis is gone at the end of the wait', async () => {
      const { a, b } = await held();
      const waited = b.locks.tryAcquire(KEY, { wait: '30s' });
      await replicas.clock.advance(1_000);
      for (const { store } of [a, b]) store.partition();
      expect(await timed(waited, 60_000)).toEqual([30_500, expect.any(StoreError)]);
    });

    it('when another program has written its record', async () => {
      const a = start('a');
      replicas.server.corrupt(RECORD);
      await acquired(a, 'another');
      const [at, error] = await timed(a.locks.tryAcquire(KEY, { wait: '1s' }), 5_000);
      expect([at, messageOf(error)]).toEqual([
        1_000,
        "it is not known who holds the lock 'nightly-import': the record 'nightly-import:lock' in memory cannot be read, " +
          'because another program wrote it: delete it',
      ]);
    });
  });

  describe('after Redis lost its data', () => {
    it('grants a lock only after the TTL of a lease, and says so to a call that cannot wait', async () => {
      const [a, b] = [start('a'), start('b')];
      const old = await acquired(a);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      a.store.partition();
      replicas.server.restart();
      await replicas.clock.advance(3_100);
      const [, error] = await timed(b.locks.tryAcquire(KEY), 0);
      expect([error, messageOf(error)]).toEqual([
        expect.any(StoreError),
        "it is not known who holds the lock 'nightly-import': memory was restarted or lost its data, " +
          'and an earlier holder may rely on it for 9.9 s',
      ]);
      const [at, handle] = await timed(b.locks.tryAcquire(KEY, { wait: '1m' }), 20_000);
      expect([at, handle]).toEqual([13_000, expect.objectContaining({ key: 'lock/nightly-import' })]);
      expect(old.isHeld()).toBe(false);
    });
  });

  describe('fires the signal of a handle', () => {
    it('at the safe deadline when Redis is gone; its work has the rest of the TTL of the lease to stop', async () => {
      const { a, b, handle } = await held();
      await replicas.clock.advance(3_500);
      a.store.partition();
      // renewed at 3 s
      await replicas.clock.advance(8_499);
      expect(handle.signal.aborted).toBe(false);
      await replicas.clock.advance(1);
      expect(handle.signal.reason).toEqual(
        new LockLostError('lock/nightly-import', 'may be held by another holder now'),
      );
      a.store.heal();
      const waited = [a, b].map(({ locks }) => locks.tryAcquire(KEY, { wait: '1m' }));
      await replicas.clock.advance(999);
      expect(holder()).toMatch(/^a\.1@/);
      await replicas.clock.advance(4_000);
      expect(holder()).toMatch(/^[ab]\.[12]@/);
      expect(await soon(handle.release())).toBe(true);
      await replicas.clock.advance(60_000);
      expect((await Promise.all(waited)).map((lock) => lock?.isHeld() ?? false).toSorted()).toEqual([false, true]);
    });

    it('but isHeld() is right before, when a clock shows that the process was stopped', async () => {
      const handle = await acquired(start('a'));
      replicas.clock.stepWall(60_000);
      expect(handle.isHeld()).toBe(false);
    });
  });

  describe('releases a handle', () => {
    it('once, also if release() is called several times', async () => {
      const { a, handle } = await held();
      const writes = a.store.writes.length;
      expect(await soon(Promise.all([handle.release(), handle.release()]))).toEqual([true, true]);
      expect(a.store.writes.length).toBe(writes + 1);
    });

    it('and resolves after 2 s when Redis is gone', async () => {
      const { a, handle } = await held();
      a.store.partition();
      expect(await timed(handle.release(), 60_000)).toEqual([2_000, false]);
    });
  });

  describe('runs a function under a lock', () => {
    it('releases it when the function has settled, and returns its result if its work is done', async () => {
      const [a, b] = [start('a'), start('b')];
      const outcome = a.locks.withLock(KEY, async (lock) => {
        await expect(b.locks.withLock(KEY, () => 1)).rejects.toEqual(new LockUnavailableError('lock/nightly-import'));
        return lock.fencingToken;
      });
      expect(await soon(outcome)).toBeGreaterThan(0);
      const failing = a.locks.withLock(KEY, { wait: '1ms' }, () => Promise.reject(new Error('no disk')));
      await expect(soon(failing)).rejects.toThrow('no disk');
      const undone = a.locks.withLock({ name: 'import', tenant: 'acme' }, () => [import('node:fs')]);
      await expect(soon(undone)).rejects.toThrow("the function of lock 'import/acme' returned an array with a promise");
      expect(holder()).toBeUndefined();
    });

    it('rejects with the given key, and says if this very process holds the lock', async () => {
      const [a, b] = [start('a'), start('b')];
      const key = { name: 'import', tenant: 'acme' };
      const told = (locks: LockService) => locks.withLock(key, () => 1).catch(messageOf);
      const both = a.locks.withLock(key, async () => [await told(a.locks), await told(b.locks)]);
      const held = "the lock 'import/acme' is held by";
      expect(await soon(both)).toEqual([
        `${held} this process already (locks are not reentrant)`,
        `${held} another holder`,
      ]);
      await acquired(b, key);
      const refused = a.locks.withLock(key, { wait: '10ms' }, () => 1).catch(messageOf);
      key.name = 'export';
      expect((await timed(refused, 10))[1]).toBe(`${held} another holder`);
    });
  });

  describe('when the application stops', () => {
    it('fires the signals of held locks, and waits until their owners release them', async () => {
      const a = start('a');
      const work = a.locks.withLock(KEY, async ({ signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => replicas.clock.setTimer(300, resolve));
        });
        return messageOf(signal.reason);
      });
      await replicas.clock.advance(100);
      const closed = a.locks.close();
      await replicas.clock.advance(299);
      expect(holder()).toMatch(/^a\./);
      expect((await timed(closed, 1))[0]).toBe(400);
      expect(await soon(work)).toContain('is released, because the application stops');
      expect(holder()).toBeUndefined();
    });

    it('gives the owners half a second; what is left is released with the jobs', async () => {
      const [a, b] = [start('a'), start('b')];
      const handles = [await acquired(a), await acquired(b, 'another')];
      b.store.partition();
      const closed = [a, b].map(({ locks }) => locks.close());
      for (const close of closed) expect((await timed(close, 500))[0]).toBe(500);
      expect(handles.map(({ signal }) => signal.aborted)).toEqual([true, true]);
      expect(holder()).toMatch(/^a\./);
      await soon(a.replica.close());
      expect(holder()).toBeUndefined();
    });

    it('ends all waiting, and takes no more locks', async () => {
      const { b } = await held();
      const waited = b.locks.tryAcquire(KEY, { wait: '60s' });
      await replicas.clock.advance(100);
      await soon(b.locks.close());
      await expect(soon(waited)).rejects.toEqual(new LocksClosedError());
      await expect(b.locks.tryAcquire(KEY)).rejects.toThrow('the application has stopped');
    });
  });

  it('refuses to lock for a function that was called instead of passed', async () => {
    const { locks, store } = start('a');
    const refused = locks.withLock(KEY, Promise.resolve() as unknown as () => void);
    await expect(refused).rejects.toThrow('must be a function, got an instance of Promise: pass it without calling it');
    expect(store.sent).toEqual([]);
  });

  it('refuses to lock without a connection', async () => {
    const options = resolveOptions({ projectName: 'test', enabled: false });
    const { replica, store } = start('a');
    const locks = new LockService({ options, replica });
    await expect(locks.tryAcquire(KEY)).rejects.toThrow('connection must be given to lock anything');
    expect(store.sent).toEqual([]);
  });
});
