import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Injectable, type ModuleMetadata, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  FixedRate,
  type JobObserver,
  LockHandle,
  LockLostError,
  LockService,
  LockStoreError,
  SingletonJobModule,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';
import { type StartedApplication, startApplication } from '../support/nest-application.js';
import { useRedisServer } from '../../tools/replicas/redis/use-redis.js';
import { until } from '../../tools/replicas/until.js';

const LOCK = 'myapp:lock/nightly-import:lock';
const STATE = `{${LOCK}}:state`;
const DAY_MS = 24 * 3_600_000;

describe('LockService on Redis', () => {
  const server = useRedisServer();
  const started: StartedApplication[] = [];
  let redis: Redis;

  beforeEach(() => {
    redis = new Redis(server().url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((application) => application[Symbol.asyncDispose]()));
    await redis.flushall();
    redis.disconnect();
  });

  const start = async (options: Partial<SingletonJobOptions> = {}, root: ModuleMetadata = {}) => {
    const module = SingletonJobModule.forRoot({
      projectName: 'myapp',
      connection: server().url,
      heartbeatInterval: '200ms',
      // a busy machine loses no lock of this life
      lockExpiry: '10s',
      nodeId: 'pod-1',
      ...options,
    });
    const application = await startApplication({ ...root, imports: [module] });
    started.push(application);
    return { ...application, locks: application.app.get(LockService) };
  };

  const acquired = async (
    locks: LockService,
    ...request: Parameters<LockService['tryAcquire']>
  ): Promise<LockHandle> => {
    const handle = await locks.tryAcquire(...request);
    if (handle === null) throw new Error('somebody else has the lock');
    return handle;
  };

  /** How many scripts Redis has run. */
  const scriptsRun = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

  const clients = async (): Promise<number> =>
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length;

  it('locks among replicas, renews beyond the expiry, and tells nobody of a leader', async () => {
    const told: string[] = [];
    const observer: JobObserver = {
      leadershipGained: () => told.push('gained'),
      leadershipReleased: () => told.push('released'),
      leadershipLost: () => told.push('lost'),
    };
    const [a, b] = [await start({ observers: [observer] }), await start()];
    const handle = await acquired(a.locks, 'nightly-import', { expiry: '3s' });
    const since = performance.now();
    await until('it would have expired', async () => {
      expect(await b.locks.tryAcquire('nightly-import')).toBeNull();
      return performance.now() - since > 4_000;
    });
    expect([handle.isHeld(), handle.signal.aborted]).toEqual([true, false]);
    expect(await handle.release()).toBe(true);
    const next = await acquired(b.locks, 'nightly-import');
    expect(next.fencingToken).toBeGreaterThan(handle.fencingToken);
    await next.release();
    expect(told).toEqual([]);
  });

  it('is released once, however often that is asked for, and also by leaving its scope', async () => {
    const { locks } = await start();
    const handle = await acquired(locks, 'nightly-import');
    expect(await Promise.all([handle.release(), handle.release()])).toEqual([true, true]);
    await redis.set(LOCK, 'somebody#1', 'PX', 60_000);
    expect(await handle.release()).toBe(true);
    expect(await redis.get(LOCK)).toBe('somebody#1');
    await redis.del(LOCK);
    {
      await using scoped = await acquired(locks, 'nightly-import');
      expect(scoped.isHeld()).toBe(true);
    }
    expect(await redis.exists(LOCK)).toBe(0);
  });

  it('keeps its locks beside those of jobs, with a state that is forgotten in a day', async () => {
    class Prices {
      @FixedRate('100ms', { name: 'price-tick' })
      tick(): void {
        // that it is led is enough
      }
    }
    const { locks } = await start({}, { providers: [Prices] });
    const handle = await acquired(locks, 'nightly-import');
    await until('the job is led', async () => (await redis.exists('myapp:price-tick:lock')) === 1);
    expect(await redis.get(LOCK)).toMatch(/^pod-1-[0-9a-f]{8}#\d+$/);
    expect(Number(await redis.hget(STATE, 'token'))).toBe(handle.fencingToken);
    expect(await redis.pttl(STATE)).toBeGreaterThan(DAY_MS - 60_000);
    expect(await redis.pttl(STATE)).toBeLessThanOrEqual(DAY_MS);
    expect(await redis.pttl('{myapp:price-tick:lock}:state')).toBe(-1);
    await handle.release();
    expect(await redis.exists(LOCK)).toBe(0);
  });

  it('leaves nothing in Redis when it is released after its state was forgotten', async () => {
    const { locks } = await start();
    const handle = await acquired(locks, 'nightly-import');
    // as after a day
    await redis.del(STATE);
    expect(await handle.release()).toBe(true);
    expect(await redis.keys('*')).toEqual([]);
  });

  it('gives each tenant keys of its own, and no two keys the same', async () => {
    const { locks } = await start();
    const keys = ['a/b', 'a%2Fb', '{a}:b', { name: 'a', tenant: 'b' }, { name: 'a', tenant: 'c' }] as const;
    await Promise.all(keys.map((key) => acquired(locks, key)));
    expect((await redis.keys('*:lock')).toSorted()).toEqual([
      'myapp:lock/%7Ba%7D%3Ab:lock',
      'myapp:lock/a%252Fb:lock',
      'myapp:lock/a%2Fb:lock',
      'myapp:lock/a/b:lock',
      'myapp:lock/a/c:lock',
    ]);
    expect(await locks.tryAcquire({ name: 'a', tenant: 'b' })).toBeNull();
  });

  it('gives growing fencing tokens, also after the state was forgotten', async () => {
    const { locks } = await start();
    const tokens: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      // after a loss of data a lock is granted when its expiry has passed
      const handle = await acquired(locks, 'nightly-import', { expiry: '2s', wait: '60s' });
      tokens.push(handle.fencingToken);
      await handle.release();
      if (turn === 1) await redis.del(STATE);
    }
    expect(tokens).toEqual([...new Set(tokens)].toSorted((x, y) => x - y));
  });

  describe('lets somebody wait', () => {
    it('who asks nothing until the release is told', async () => {
      const { locks } = await start();
      // so that the subscription is there
      await (await acquired(locks, 'other')).release();
      await until('releases are heard of', async () => / sub=1 /.test(String(await redis.client('LIST'))));
      await redis.set(LOCK, 'somebody#1', 'PX', 60_000);
      const before = await scriptsRun();
      const waiting = locks.tryAcquire('nightly-import', { wait: '50s' });
      await until('it was refused', async () => (await scriptsRun()) > before);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      // a poll would have been ten; one more where the subscription came only now, or an answer too late
      expect((await scriptsRun()) - before).toBeLessThanOrEqual(3);
      await redis.del(LOCK);
      await redis.publish(
        'myapp:released',
        JSON.stringify({
          version: 1,
          database: 0,
          kind: 'released',
          locks: [['lock/nightly-import', 'somebody#1', 0]],
        }),
      );
      const handle = await waiting;
      expect(handle?.isHeld()).toBe(true);
      expect((await scriptsRun()) - before).toBeLessThanOrEqual(5);
      await handle?.release();
    });

    it('until the lock of whoever was killed expires, which it asks for once', async () => {
      const { locks } = await start();
      await (await acquired(locks, 'other')).release();
      await until('releases are heard of', async () => / sub=1 /.test(String(await redis.client('LIST'))));
      await redis.set(LOCK, 'somebody#1', 'PX', 1_500);
      const before = await scriptsRun();
      const handle = await locks.tryAcquire('nightly-import', { wait: '50s' });
      expect(handle?.isHeld()).toBe(true);
      // one refused, one granted, and one more where the timer of Redis was a little late
      expect((await scriptsRun()) - before).toBeLessThanOrEqual(4);
      await handle?.release();
    });

    it('in several replicas and often in each, one of whom wins each time', async () => {
      const [a, b] = [await start(), await start()];
      let inside = 0;
      let most = 0;
      const tokens: number[] = [];
      const work = ({ locks }: { locks: LockService }): Promise<void> =>
        locks.withLock('nightly-import', { wait: '60s' }, async (lock) => {
          tokens.push(lock.fencingToken);
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside -= 1;
        });
      await Promise.all(Array.from({ length: 20 }, (_, n) => work(n % 2 === 0 ? a : b)));
      expect([most, tokens.length]).toEqual([1, 20]);
      expect(tokens).toEqual(tokens.toSorted((x, y) => x - y));
    });

    it('no longer than is asked for, or until the signal fires', async () => {
      const [a, b] = [await start(), await start()];
      await acquired(a.locks, 'nightly-import');
      expect(await b.locks.tryAcquire('nightly-import', { wait: '200ms' })).toBeNull();
      const reason = new Error('nobody waits for it');
      const controller = new AbortController();
      const waiting = b.locks.tryAcquire('nightly-import', { wait: '60s', signal: controller.signal });
      setTimeout(() => {
        controller.abort(reason);
      }, 100);
      await expect(waiting).rejects.toBe(reason);
    });
  });

  describe('fires the signal of a handle', () => {
    it('when its lock was deleted', async () => {
      const { locks } = await start();
      const handle = await acquired(locks, 'nightly-import');
      await redis.del(LOCK);
      await until('it is told', () => handle.signal.aborted);
      expect(handle.signal.reason).toBeInstanceOf(LockLostError);
      expect(handle.isHeld()).toBe(false);
    });

    it('when Redis is gone for longer than the lock lives, and works again after that', async () => {
      const { locks, logger } = await start();
      const handle = await acquired(locks, 'nightly-import', { expiry: '3s' });
      const from = logger.lines.length;
      const told = () => logger.lines.slice(from).filter((line) => line.includes('Redis'));
      await server().down();
      await until('it is told', () => handle.signal.aborted);
      expect(handle.signal.reason).toBeInstanceOf(LockLostError);
      await expect(locks.tryAcquire('nightly-import')).rejects.toBeInstanceOf(LockStoreError);
      expect(told()).toEqual([
        expect.stringMatching(/^error: \[myapp\] cannot use Redis \(.*\); retrying until it answers$/),
      ]);
      await server().up();
      await handle.release();
      const again = await acquired(locks, 'nightly-import', { wait: '30s' });
      expect(again.fencingToken).toBeGreaterThan(handle.fencingToken);
      expect(told()[1]).toMatch(/^log: \[myapp\] can use Redis again after/);
    });
  });

  describe('says that nobody knows', () => {
    it('when Redis is not there', async () => {
      const { locks } = await start({ connection: 'redis://127.0.0.1:1' });
      await expect(locks.tryAcquire('nightly-import')).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    });

    it('at once when Redis refuses the connection, which is logged once', async () => {
      await redis.config('SET', 'requirepass', 'secret');
      try {
        const { locks, logger } = await start();
        const since = performance.now();
        await expect(locks.tryAcquire('nightly-import', { wait: '60s' })).rejects.toMatchObject({
          code: 'STORE_MISCONFIGURED',
        });
        expect(performance.now() - since).toBeLessThan(30_000);
        expect(logger.lines.filter((line) => line.startsWith('error: '))).toEqual([
          expect.stringMatching(/^error: \[myapp\] cannot use Redis .*NOAUTH/),
        ]);
      } finally {
        const admin = new Redis(server().url, { password: 'secret' });
        await admin.config('SET', 'requirepass', '');
        admin.disconnect();
      }
    });
  });

  describe('in an application', () => {
    it('works while it starts, so that one replica migrates at a time', async () => {
      const told: string[] = [];

      @Injectable()
      class Migration implements OnModuleInit {
        constructor(private readonly locks: LockService) {}

        async onModuleInit(): Promise<void> {
          await this.locks.withLock('migration', { wait: '30s' }, async () => {
            told.push('begin');
            await new Promise((resolve) => setTimeout(resolve, 50));
            told.push('end');
          });
        }
      }

      await Promise.all([1, 2, 3].map(() => start({}, { providers: [Migration] })));
      expect(told).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end']);
    });

    it('connects when it is first used where jobs are disabled, and needs to be told where to', async () => {
      await until('nobody else is connected', async () => (await clients()) === 1);
      const { locks, app } = await start({ enabled: false });
      expect(await clients()).toBe(1);
      await acquired(locks, 'nightly-import');
      expect(await clients()).toBeGreaterThan(1);
      await app.close();
      await until('its connections are closed', async () => (await clients()) === 1);
      expect(await redis.exists(LOCK)).toBe(0);

      const module = SingletonJobModule.forRoot({ projectName: 'myapp', enabled: false });
      await using nowhere = await startApplication({ imports: [module] });
      await expect(nowhere.app.get(LockService).tryAcquire('x')).rejects.toThrow('connection must be given');
    });

    it('keeps its locks until every provider is destroyed, and then gives them back', async () => {
      const held: boolean[] = [];

      @Injectable()
      class Importer implements OnModuleDestroy {
        handle: LockHandle | undefined;

        constructor(private readonly locks: LockService) {}

        async onModuleDestroy(): Promise<void> {
          held.push(this.handle?.isHeld() === true);
          await this.locks.withLock('last-words', {}, ({ signal }) => held.push(!signal.aborted));
        }
      }

      const { app, locks } = await start({}, { providers: [Importer] });
      const handle = await acquired(locks, 'nightly-import');
      app.get(Importer).handle = handle;
      await app.close();
      expect(held).toEqual([true, true]);
      expect(handle.signal.reason).toBeInstanceOf(LockLostError);
      expect(await redis.keys('*:lock')).toEqual([]);
      await expect(locks.tryAcquire('nightly-import')).rejects.toThrow('the application has stopped');
    });

    it('shares the connections of its jobs', async () => {
      class Prices {
        @FixedRate('100ms', { name: 'price-tick' })
        tick(): void {
          // that it is led is enough
        }
      }
      await until('nobody else is connected', async () => (await clients()) === 1);
      const { locks } = await start({}, { providers: [Prices] });
      await Promise.all(['x', 'y', 'z'].map((key) => acquired(locks, key)));
      await until('the job is led', async () => (await redis.exists('myapp:price-tick:lock')) === 1);
      await until('the connections stand', async () => (await clients()) === 1 + 2);
      await Promise.all(['u', 'v', 'w'].map((key) => acquired(locks, key)));
      expect(await clients()).toBe(1 + 2);
    });

    it('lets its process end by itself once it is closed, also with a lock held and another waited for', async () => {
      const script = join(import.meta.dirname, '../support/locking-application.ts');
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, server().url], {
        timeout: 60_000,
      });
      expect(stdout.trim()).toBe(
        'false, LocksClosedError: the application has stopped: nothing can be locked any more',
      );
      expect(await redis.keys('exits:*')).toEqual([]);
    });
  });
});
