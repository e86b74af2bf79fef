import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { LockStoreError } from '../base/errors/lock-store.error.js';
import { LockLostError, LocksClosedError, LockUnavailableError } from '../base/errors/lock.errors.js';
import { messageOf } from '../base/errors/message-of.js';
import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { Replica } from '../leadership/replica.js';
import { resolveOptions } from '../options/resolve-options.js';
import { InMemoryLockStore } from '../store/memory/in-memory-store.js';
import { ManualClock, RecordingObserver } from '../testing/index.js';
import { FaultyStore } from '../testing/replicas/faulty-store.js';
import { TestServer } from '../testing/test-server.js';
import { type LockHandle } from './lock-handle.js';
import { type LockKey, type LockOptions } from './lock-request.js';
import { LockService } from './lock.service.js';

const KEY = 'nightly-import';

/** A process that locks, on the common clock and server. */
interface Process {
  readonly locks: LockService;
  readonly store: FaultyStore;
  readonly replica: Replica;
  readonly observer: RecordingObserver;
}

describe('LockService', () => {
  let clock: ManualClock;
  let server: TestServer;
  let processes: Process[];
  /** How many requests wait for messages at the moment. */
  let waiting: number;

  beforeEach(() => {
    clock = new ManualClock();
    server = new TestServer(clock);
    processes = [];
    waiting = 0;
  });

  afterEach(async () => {
    const closed = Promise.all(processes.map(close));
    await clock.advance(60_000);
    await closed;
    expect([clock.pendingTimers, waiting]).toEqual([0, 0]);
  });

  async function close({ locks, replica }: Process): Promise<void> {
    await locks.close();
    await replica.close();
  }

  function start(name: string, random = () => 0): Process {
    const store = new FaultyStore(new InMemoryLockStore(server), clock);
    const observer = new RecordingObserver(clock);
    const { notify } = observer;
    const settings = { id: name, heartbeatIntervalMs: 3_000, maxBackoffDelayMs: 30_000 };
    const replica = new Replica(settings, { store, clock, notify, random });
    const addWaiter = replica.messages.addWaiter.bind(replica.messages);
    replica.messages.addWaiter = (name, waiter) => {
      const remove = addWaiter(name, waiter);
      waiting += 1;
      return () => {
        waiting -= 1;
        remove();
      };
    };
    const locks = new LockService(resolveOptions({ projectName: 'test', store }), replica);
    const process = { locks, store, replica, observer };
    processes.push(process);
    return process;
  }

  async function acquired({ locks }: Process, key: LockKey = KEY, options?: LockOptions): Promise<LockHandle> {
    const handle = await soon(locks.tryAcquire(key, options));
    if (handle === null) throw new Error('another client has the lock');
    return handle;
  }

  /** What a promise resolves to while no time passes. */
  async function soon<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settled = (): void => {
      state.isSettled = true;
    };
    promise.then(settled, settled);
    await clock.advance(0);
    if (!state.isSettled) throw new Error('it takes time');
    return promise;
  }

  /** The outcome of a promise, and when there was one. */
  function timed<T>(promise: Promise<T>): Promise<readonly [number, T | Error]> {
    const at = <V>(value: V) => [Math.round(clock.now()), value] as const;
    return promise.then(at<T | Error>, (error: unknown) => at(error as Error));
  }

  describe('grants a lock', () => {
    it('to one holder, and returns null to all others until it is released', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a);
      expect(await soon(a.locks.tryAcquire(KEY))).toBeNull();
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      expect(await handle.release()).toBe(true);
      await acquired(b);
    });

    it('that is renewed while it is held, without events about leadership', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a);
      await clock.advance(3_600_000);
      expect([handle.isHeld(), handle.signal.aborted]).toEqual([true, false]);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      expect(a.store.count('renew')).toBe(1_440);
      await handle.release();
      expect([handle.isHeld(), handle.signal.aborted]).toEqual([false, false]);
      expect(a.observer.events).toEqual([]);
    });

    it('with its own expiry', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a, KEY, { expiry: '9s' });
      a.store.outcome = () => 'request-lost';
      await clock.advance(9_000);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      await clock.advance(1);
      await acquired(b);
    });

    it('for each key and tenant separately, with any characters', async () => {
      const a = start('a');
      const keys: LockKey[] = [
        'x',
        'X',
        'x/y',
        'x%2Fy',
        'x:y',
        '{x}',
        'x y',
        'ключ',
        '.',
        { name: 'x', tenant: 'y' },
        { name: 'y', tenant: 'x' },
        { name: 'x/y', tenant: 'z' },
        { name: 'x', tenant: 'y/z' },
        { name: 'x', tenant: '{y}' },
      ];
      const handles = await Promise.all(keys.map((key) => acquired(a, key)));
      expect(new Set(handles.map(({ key }) => key)).size).toBe(keys.length);
      expect(handles.filter(({ key }) => !/^lock(\/[^/:{}\s]+){1,2}$/.test(key))).toEqual([]);
      const { key } = await acquired(a, { name: 'a/b%', tenant: '{c}:d' });
      expect(key).toBe('lock/a%2Fb%25/%7Bc%7D%3Ad');
    });

    it('with a larger fencing token each time, also after its state has expired', async () => {
      const [a, b] = [start('a'), start('b')];
      const tokens: number[] = [];
      for (const process of [a, b, a, b]) {
        const handle = await acquired(process);
        tokens.push(handle.fencingToken);
        await handle.release();
        if (tokens.length === 2) await clock.advance(25 * 3_600_000);
      }
      expect(tokens).toEqual([...new Set(tokens)].toSorted((x, y) => x - y));
    });

    it('whose first answer was lost, on the next connection', async () => {
      const a = start('a');
      let tries = 0;
      a.store.outcome = () => (++tries === 1 ? 'answer-lost' : 'answered');
      const handle = timed(a.locks.tryAcquire(KEY));
      await clock.advance(2_000);
      expect(await handle).toEqual([1_750, expect.objectContaining({ key: 'lock/nightly-import' })]);
    });

    it('without a session or a heartbeat', async () => {
      const a = start('a');
      await acquired(a);
      await clock.advance(60_000);
      expect(server.holderOf('lock/nightly-import')).toMatch(/^a#\d+$/);
      expect(a.store.count('heartbeat')).toBe(0);
    });
  });

  describe('after Redis lost its data', () => {
    /** When a request for the lock is granted, and how. */
    async function next(process: Process, options?: LockOptions) {
      const granted = begun(process, options);
      await clock.advance(70_000);
      return granted;
    }

    async function begun(process: Process, options: LockOptions = { wait: '70s' }) {
      const from = clock.now();
      const [atMs, handle] = await timed(process.locks.tryAcquire(KEY, options));
      return { afterMs: atMs - from, handle: handle as LockHandle };
    }

    it('grants larger fencing tokens than this process saw, although the clock of Redis was set back', async () => {
      const a = start('a');
      const { fencingToken } = await acquired(a);
      clock.stepWall(-3_600_000);
      server.loseData();
      await clock.advance(3_000);
      const { handle } = await next(a);
      expect(handle.fencingToken).toBeGreaterThan(fencingToken);
    });

    it('grants a handle that prints its key and its token only', async () => {
      const handle = await acquired(start('a'));
      expect(inspect(handle)).toBe(`LockHandle { key: '${handle.key}', fencingToken: ${handle.fencingToken} }`);
    });

    it('grants a lock that this process saw held only when it is no longer valid for its holder', async () => {
      const [a, b] = [start('a'), start('b')];
      const old = await acquired(a, KEY, { expiry: '60s' });
      await clock.advance(1_000);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      a.store.outcome = () => 'request-lost';
      server.loseData();
      const granted = begun(b);
      await clock.advance(53_000);
      expect(old.isHeld()).toBe(false);
      await clock.advance(20_000);
      const { afterMs } = await granted;
      // the lock was seen with 59 s left
      expect(afterMs).toBe(59_000);
    });

    it('waits for the expiry of the request: an unseen holder may have used the same', async () => {
      const [a, b] = [start('a'), start('b')];
      await (await acquired(b)).release();
      const unseen = await acquired(a, KEY, { expiry: '60s' });
      await clock.advance(1_000);
      a.store.outcome = () => 'request-lost';
      server.loseData();
      const granted = begun(b, { expiry: '60s', wait: '70s' });
      await clock.advance(50_000);
      expect(unseen.isHeld()).toBe(true);
      await clock.advance(20_000);
      expect((await granted).afterMs).toBe(60_000);
    });

    it('grants a lock that this process itself lost when it is valid for no holder any more', async () => {
      const a = start('a');
      const old = await acquired(a, KEY, { expiry: '30s' });
      server.loseData();
      await clock.advance(3_000);
      expect(old.signal.aborted).toBe(true);
      const { afterMs } = await next(a);
      expect(afterMs).toBe(30_000);
    });

    it('returns null without waiting while the lock may still be valid for a lost holder', async () => {
      const [a, b] = [start('a'), start('b')];
      const old = await acquired(a);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      a.store.partition();
      server.loseData();
      for (let second = 0; second < 10; second++) {
        expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
        await clock.advance(1_000);
      }
      expect(old.isHeld()).toBe(false);
      await acquired(b);
    });

    it('waits also if another process has held the lock since', async () => {
      const [a, b, c] = [start('a'), start('b'), start('c')];
      const old = await acquired(a, KEY, { expiry: '60s' });
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      await clock.advance(100);
      a.store.partition();
      server.loseData();
      const unaware = await acquired(c);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      await unaware.release();
      const granted = begun(b);
      await clock.advance(50_000);
      expect(old.isHeld()).toBe(true);
      await clock.advance(20_000);
      expect((await granted).afterMs).toBe(60_000);
    });

    it('grants a lock at once that this process has not requested within its life', async () => {
      const a = start('a');
      await (await acquired(a)).release();
      await clock.advance(10_000);
      server.loseData();
      expect((await next(a)).afterMs).toBe(0);
    });

    it('does not count a state as lost that expired after a day', async () => {
      const a = start('a');
      await (await acquired(a, KEY, { expiry: '20h' })).release();
      await clock.advance(25 * 3_600_000);
      expect((await next(a, { expiry: '20h', wait: '70s' })).afterMs).toBe(0);
    });

    it('waits also for a holder that has renewed its lock for longer than a day', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a, KEY, { expiry: '60s' });
      await clock.advance(25 * 3_600_000);
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      a.store.partition();
      server.loseData();
      const attempt = () => soon(b.locks.tryAcquire(KEY));
      expect([await attempt(), await attempt()]).toEqual([null, null]);
    });

    it('keeps the state for a day after each renewal', async () => {
      const a = start('a');
      const handle = await acquired(a);
      const stateEndsAt = () => server.snapshot().states.get('lock/nightly-import')?.expiresAt ?? 0;
      const before = stateEndsAt();
      await clock.advance(60_000);
      expect(stateEndsAt() - before).toBeGreaterThan(50_000);
      await handle.release();
    });
  });

  describe('lets a request wait', () => {
    it('that is woken by the release, and sends nothing while it waits', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a, KEY, { expiry: '60s' });
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '50s' }));
      await clock.advance(40_000);
      expect(b.store.sent).toHaveLength(1);
      await handle.release();
      await clock.advance(0);
      expect(await waited).toEqual([40_000, expect.objectContaining({ key: 'lock/nightly-import' })]);
      expect(b.store.sent).toHaveLength(2);
    });

    it('that is woken by a release in the same process', async () => {
      const a = start('a');
      const handle = await acquired(a, KEY, { expiry: '60s' });
      const waited = timed(a.locks.tryAcquire(KEY, { wait: '50s' }));
      await clock.advance(20_000);
      await handle.release();
      await clock.advance(0);
      expect(await waited).toEqual([20_000, expect.objectContaining({ key: 'lock/nightly-import' })]);
    });

    it('until the lock of a killed process expires', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a);
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '60s' }));
      await clock.advance(1_000);
      a.store.outcome = () => 'request-lost';
      await clock.advance(60_000);
      const [at, handle] = await waited;
      expect(at).toBeGreaterThan(10_000);
      expect(at).toBeLessThan(10_100);
      expect(handle).not.toBeNull();
    });

    it('not longer than wait, also if that is shorter than a request may take', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a);
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '150ms' }));
      await clock.advance(5_000);
      expect(await waited).toEqual([150, null]);
    });

    it('among others, of which one gets the lock each time', async () => {
      const [a, b] = [start('a', () => 0.5), start('b', () => 0.3)];
      let inside = 0;
      let most = 0;
      const work = async ({ locks }: Process): Promise<void> => {
        await locks.withLock(KEY, { wait: '5m' }, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise<void>((resolve) => clock.setTimer(700, resolve));
          inside -= 1;
        });
      };
      const all = Promise.all([a, b, a, b, a, b, a, b].map(work));
      await clock.advance(30_000);
      await all;
      expect(most).toBe(1);
    });

    it('until its signal aborts, and leaves nothing behind', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a);
      const controller = new AbortController();
      const reason = new Error('the request was cancelled');
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '60s', signal: controller.signal }));
      await clock.advance(500);
      controller.abort(reason);
      expect(await soon(waited)).toEqual([500, reason]);
      expect(waiting).toBe(0);
      await handle.release();
      await clock.advance(0);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
      expect(b.store.sent).toHaveLength(1);
    });

    it('and releases a lock that is granted after the wait', async () => {
      const a = start('a');
      const arrive = a.store.holdAnswers();
      const controller = new AbortController();
      const waited = timed(a.locks.tryAcquire(KEY, { signal: controller.signal }));
      await clock.advance(100);
      controller.abort();
      arrive();
      expect(await soon(waited)).toEqual([100, controller.signal.reason]);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
    });

    it('not at all if its signal has fired before', async () => {
      const a = start('a');
      await expect(a.locks.tryAcquire(KEY, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
      expect(a.store.sent).toEqual([]);
    });
  });

  describe('rejects because the holder is not known', () => {
    it.each(['request-lost', 'answer-lost', 'STORE_UNREACHABLE'] as const)(
      'when Redis does not answer in two seconds: %s',
      async (outcome) => {
        const a = start('a');
        a.store.outcome = () => outcome;
        const attempt = timed(a.locks.tryAcquire(KEY));
        await clock.advance(60_000);
        const [at, error] = await attempt;
        expect(error).toBeInstanceOf(LockStoreError);
        expect(error).toMatchObject({ code: 'STORE_UNREACHABLE' });
        expect(at).toBe(2_000);
      },
    );

    it('when Redis is gone during the wait', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a);
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '30s' }));
      await clock.advance(1_000);
      for (const { store } of [a, b]) store.outcome = () => 'STORE_UNREACHABLE';
      await clock.advance(60_000);
      const [at, error] = await waited;
      expect(error).toBeInstanceOf(LockStoreError);
      expect(at).toBeLessThanOrEqual(33_000);
    });

    it.each(['STORE_MISCONFIGURED', 'STORE_REFUSED_WRITE'] as const)(
      'at once when Redis refuses: %s',
      async (outcome) => {
        const a = start('a');
        a.store.outcome = () => outcome;
        await expect(soon(a.locks.tryAcquire(KEY, { wait: '60s' }))).rejects.toMatchObject({ code: outcome });
      },
    );

    it('and reports a refusal once for many requests, and again after a success', async () => {
      const a = start('a');
      for (const times of [1, 2]) {
        a.store.outcome = () => 'STORE_MISCONFIGURED';
        for (let request = 0; request < 3; request++) {
          await expect(soon(a.locks.tryAcquire(KEY))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
          await clock.advance(20_000);
        }
        expect(a.observer.of('requestDenied')).toHaveLength(times);
        a.store.outcome = () => 'answered';
        await (await acquired(a)).release();
      }
    });

    it('and releases in the background what may have been granted', async () => {
      const a = start('a');
      a.store.outcome = (request) => (request === 'acquire' ? 'answer-lost' : 'request-lost');
      const attempt = timed(a.locks.tryAcquire(KEY));
      await clock.advance(5_000);
      expect(await attempt).toEqual([2_000, expect.any(LockStoreError)]);
      expect(server.holderOf('lock/nightly-import')).toMatch(/^a#/);
      a.store.outcome = () => 'answered';
      await clock.advance(2_000);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
      expect(clock.pendingTimers).toBe(0);
    });

    it('and reports the end of the outage although no request waits', async () => {
      const a = start('a');
      a.store.outcome = () => 'STORE_UNREACHABLE';
      const attempt = timed(a.locks.tryAcquire(KEY));
      await clock.advance(5_000);
      expect((await attempt)[1]).toBeInstanceOf(LockStoreError);
      a.store.outcome = () => 'answered';
      await clock.advance(600);
      expect(a.observer.events.map(({ event }) => event)).toEqual(['storeUnreachable', 'storeRecovered']);
      expect([a.store.count('release') > 0, server.holderOf('lock/nightly-import')]).toEqual([true, undefined]);
    });

    it('but not after a short outage', async () => {
      const a = start('a');
      a.store.outcome = () => (clock.now() < 700 ? 'STORE_UNREACHABLE' : 'answered');
      const attempt = timed(a.locks.tryAcquire(KEY));
      await clock.advance(2_000);
      expect((await attempt)[1]).toMatchObject({ key: 'lock/nightly-import' });
    });

    it('when the connection is gone at the end of the wait', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a, KEY, { expiry: '10s' });
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '30s' }));
      await clock.advance(1_000);
      for (const { store } of [a, b]) store.partition();
      await clock.advance(60_000);
      expect(await waited).toEqual([30_000, expect.any(LockStoreError)]);
    });

    it('but not when an answer took longer than its lease: it sends the request again', async () => {
      const a = start('a');
      const arrive = a.store.holdAnswers();
      const attempt = timed(a.locks.tryAcquire(KEY, { wait: '60s' }));
      await clock.advance(500);
      await clock.block(30_000);
      arrive();
      a.store.answersAfter = undefined;
      await clock.advance(5_000);
      const [, handle] = await attempt;
      // the request is repeated, and the returned lock is valid
      expect((handle as LockHandle).isHeld()).toBe(true);
    });
  });

  describe('keeps what it reported about a name while the name is in use', () => {
    const BROKEN = 'lock/broken';
    const troubles = ({ replica }: Process) => replica.context.client.outages.map(([job = 'all']) => job);

    /** Has a lock whose shard is gone, and another one that is answered. */
    async function failingLock() {
      const a = start('a');
      const broken = await acquired(a, 'broken', { expiry: '60s' });
      await acquired(a, 'well');
      a.store.outcome = (_request, name) => (name === BROKEN ? 'STORE_UNREACHABLE' : 'answered');
      await clock.advance(12_000);
      expect(troubles(a)).toEqual([BROKEN]);
      return { a, broken };
    }

    it('while one holder has the lock and others request it in vain', async () => {
      const { a } = await failingLock();
      const events = a.observer.eventLines.length;
      const refused = timed(a.locks.tryAcquire('broken'));
      await clock.advance(5_000);
      expect((await refused)[1]).toBeInstanceOf(LockStoreError);
      expect(troubles(a)).toEqual([BROKEN]);
      expect(a.observer.eventLines).toHaveLength(events);
    });

    it('but not when the lock was lost, released by its owner or not', async () => {
      const { a, broken } = await failingLock();
      await clock.advance(60_000);
      expect([broken.isHeld(), troubles(a)]).toEqual([false, []]);
      void broken.release();
      await clock.advance(7_000);
      expect(troubles(a)).toEqual([]);
    });

    it('but not when there was no request since', async () => {
      const a = start('a');
      a.store.outcome = (_request, name) => (name === BROKEN ? 'STORE_UNREACHABLE' : 'answered');
      const refused = timed(a.locks.tryAcquire('broken'));
      await clock.advance(20_000);
      expect((await refused)[1]).toBeInstanceOf(LockStoreError);
      expect(troubles(a)).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  describe('fires the signal of a handle', () => {
    it('when another holder has the lock, at the next renewal', async () => {
      const a = start('a');
      const handle = await acquired(a);
      server.free('lock/nightly-import');
      await clock.advance(3_000);
      expect(handle.signal.reason).toBeInstanceOf(LockLostError);
      expect((handle.signal.reason as Error).message).toBe(
        "the lock 'nightly-import' may be held by another holder now: stop before the next side effect",
      );
      expect(handle.isHeld()).toBe(false);
    });

    it('at the safe deadline when Redis is gone; the owner releases the lock after its work', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a);
      await clock.advance(3_500);
      a.store.partition();
      // renewed at 2.5 s
      await clock.advance(7_999);
      expect(handle.signal.aborted).toBe(false);
      await clock.advance(1);
      expect(handle.signal.aborted).toBe(true);
      a.store.heal();
      // the work has the rest of the lock's life to come to an end
      expect(await soon(b.locks.tryAcquire(KEY))).toBeNull();
      await clock.advance(600);
      const sent = a.store.sent.length;
      expect(clock.pendingTimers).toBe(0);
      await clock.advance(600_000);
      expect(a.store.sent).toHaveLength(sent);
      await acquired(b);
      const released = handle.release();
      await clock.advance(1_000);
      expect(await released).toBe(true);
      expect(server.holderOf('lock/nightly-import')).toMatch(/^b#/);
    });

    it('when a clock shows that the process was stopped, before any timer fires', async () => {
      const a = start('a');
      const handle = await acquired(a);
      clock.stepWall(60_000);
      expect(handle.isHeld()).toBe(false);
    });
  });

  describe('releases a handle', () => {
    it('once, also if release() is called several times', async () => {
      const a = start('a');
      const handle = await acquired(a);
      const [first, second] = [handle.release(), handle.release()];
      expect(await Promise.all([first, second, handle.release()])).toEqual([true, true, true]);
      expect(a.store.count('release')).toBe(1);
    });

    it('at the end of an `await using` block', async () => {
      const a = start('a');
      {
        await using handle = await acquired(a);
        expect(handle.isHeld()).toBe(true);
      }
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
    });

    it('and resolves after 2 s when Redis is gone', async () => {
      const a = start('a');
      const handle = await acquired(a);
      await clock.advance(1_000);
      a.store.partition();
      const released = timed(handle.release());
      await clock.advance(60_000);
      expect(await released).toEqual([3_000, false]);
    });
  });

  describe('runs a function under a lock', () => {
    it('releases it when the function has settled, and returns its result', async () => {
      const [a, b] = [start('a'), start('b')];
      const outcome = a.locks.withLock(KEY, async (lock) => {
        await expect(b.locks.withLock(KEY, () => 1)).rejects.toEqual(new LockUnavailableError('lock/nightly-import'));
        return lock.fencingToken;
      });
      expect(await soon(outcome)).toBeGreaterThan(0);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
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
    });

    it('with options or without', async () => {
      const a = start('a');
      expect(await soon(a.locks.withLock(KEY, () => 1))).toBe(1);
      await expect(a.locks.withLock(KEY, { expiry: 1 }, () => 1)).rejects.toThrow(InvalidLockError);
    });

    it.each([
      [
        'throws',
        () => {
          throw new Error('no disk');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no disk'))],
    ])('and releases it when that %s', async (_, fn) => {
      const a = start('a');
      await expect(soon(a.locks.withLock(KEY, fn))).rejects.toThrow('no disk');
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
    });
  });

  describe('when the application stops', () => {
    it('fires the signals of held locks, and waits until their owners release them', async () => {
      const a = start('a');
      const work = a.locks.withLock(KEY, async ({ signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => clock.setTimer(300, resolve));
        });
        return (signal.reason as Error).message;
      });
      await clock.advance(100);
      const closed = timed(a.locks.close());
      await clock.advance(299);
      expect(server.holderOf('lock/nightly-import')).toMatch(/^a#/);
      await clock.advance(1);
      expect(await soon(work)).toContain('is given back, because the application stops');
      expect(await soon(closed)).toEqual([400, undefined]);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
    });

    it('releases a lock that its owner does not release', async () => {
      const a = start('a');
      await acquired(a);
      const closed = timed(a.locks.close());
      await clock.advance(2_000);
      expect((await closed)[0]).toBe(500);
      expect(server.holderOf('lock/nightly-import')).toBeUndefined();
    });

    it('takes at most a second when Redis is gone', async () => {
      const a = start('a');
      await acquired(a);
      a.store.outcome = () => 'request-lost';
      const closed = timed(a.locks.close());
      await clock.advance(2_000);
      expect((await closed)[0]).toBe(1_000);
    });

    it('waits for a release under way, and otherwise for nothing', async () => {
      const [a, b] = [start('a'), start('b')];
      const handle = await acquired(a);
      a.store.delayMs = 200;
      void handle.release();
      const closed = timed(a.locks.close());
      await clock.advance(500);
      expect((await closed)[0]).toBe(200);
      expect(await soon(timed(b.locks.close()))).toEqual([500, undefined]);
      expect(handle.signal.aborted).toBe(false);
    });

    it('ends all waiting, and takes no more locks', async () => {
      const [a, b] = [start('a'), start('b')];
      await acquired(a);
      const waited = timed(b.locks.tryAcquire(KEY, { wait: '60s' }));
      await clock.advance(100);
      await soon(b.locks.close());
      expect(await soon(waited)).toEqual([100, new LocksClosedError()]);
      await expect(b.locks.tryAcquire(KEY)).rejects.toThrow('the application has stopped');
    });
  });

  describe('refuses', () => {
    it.each<[string, unknown, unknown, RegExp]>([
      ['an empty key', '', undefined, /key must be a text, or a name and a tenant, none of them empty, got ''/],
      ['a key that is no text', 7, undefined, /key must be a text/],
      ['a tenant without a name', { tenant: 'x' }, undefined, /key must be a text/],
      ['half a character', '\uD800', undefined, /key must be a text/],
      ['options that are none', KEY, 5, /options must be an object/],
      ['an option that is none', KEY, { ttl: 5 }, /ttl is no option here: it is called expiry/],
      ['a wait that is no duration', KEY, { wait: 'long' }, /wait must be a duration/],
      ['an expiry that is too short', KEY, { expiry: 400 }, /expiry must be at least 500ms, got 400ms: raise it/],
      ['an expiry that is too long', KEY, { expiry: '2d' }, /expiry must be at most 1d, got 2d: lower it/],
      ['a signal that is none', KEY, { signal: {} }, /signal must be an AbortSignal/],
    ])('%s', async (_, key, options, message) => {
      const a = start('a');
      const outcome = a.locks.tryAcquire(key as LockKey, options as LockOptions);
      await expect(outcome).rejects.toThrow(InvalidLockError);
      await expect(outcome).rejects.toThrow(message);
    });

    it('all mistakes at once', async () => {
      const a = start('a');
      await expect(a.locks.tryAcquire('', { wait: -1, expiry: 1 })).rejects.toMatchObject({
        problems: [expect.stringContaining('key'), expect.stringContaining('expiry'), expect.stringContaining('wait')],
      });
    });

    it('to lock without a connection', async () => {
      const options = resolveOptions({ projectName: 'test', enabled: false });
      const { replica, store } = start('a');
      const locks = new LockService(options, replica);
      await expect(locks.tryAcquire(KEY)).rejects.toThrow('connection must be given to lock anything');
      await locks.close();
      expect(store.sent).toEqual([]);
    });
  });
});
