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
  SingletonJobModule,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';
import { type StartedApplication, startApplication } from '../support/nest-application.js';
import { useRedisServer } from '../support/use-redis.js';
import { until } from '../../tools/replicas/until.js';

const LOCK = '{myapp}:nightly-import:mutex';
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
    if (handle === null) throw new Error('another client has the lock');
    return handle;
  };

  const clients = async (): Promise<number> =>
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length;

  it('locks between replicas for longer than lockExpiry, and reports no leader', async () => {
    const events: string[] = [];
    const observer: JobObserver = {
      leadershipGained: () => events.push('gained'),
      leadershipReleased: () => events.push('released'),
      leadershipLost: () => events.push('lost'),
    };
    const [a, b] = [await start({ observers: [observer], lockExpiry: '3s' }), await start({ lockExpiry: '3s' })];
    const handle = await acquired(a.locks, 'nightly-import');
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
    expect(events).toEqual([]);
  });

  it('keeps its locks beside the records of jobs, and forgets them a day after their last write', async () => {
    class Prices {
      @FixedRate('100ms', { name: 'price-tick' })
      tick(): void {
        // that it is led is enough
      }
    }
    const { locks } = await start({}, { providers: [Prices] });
    const handle = await acquired(locks, 'nightly-import');
    await until('the job is led', async () => (await redis.exists('{myapp}:price-tick:lock')) === 1);
    const record = String(await redis.get(LOCK));
    expect(record).toMatch(/^\d+ \{"holder":"pod-1-[0-9a-f]{8}\.1@10000#\d+"/);
    expect(record).toContain(`"fencingToken":${String(handle.fencingToken)}`);
    expect(await redis.pttl(LOCK)).toBeGreaterThan(DAY_MS - 60_000);
    expect(await redis.pttl('{myapp}:price-tick:lock')).toBe(-1);
    await handle.release();
    expect(await redis.get(LOCK)).not.toContain('holder');
  });

  describe('in an application', () => {
    it('works while it starts, so that one replica migrates at a time', async () => {
      const steps: string[] = [];

      @Injectable()
      class Migration implements OnModuleInit {
        constructor(private readonly locks: LockService) {}

        async onModuleInit(): Promise<void> {
          await this.locks.withLock('migration', { wait: '30s' }, async () => {
            steps.push('begin');
            await new Promise((resolve) => setTimeout(resolve, 50));
            steps.push('end');
          });
        }
      }

      await Promise.all([1, 2, 3].map(() => start({}, { providers: [Migration] })));
      expect(steps).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end']);
    });

    it('connects at first use if jobs are disabled, and then needs a connection', async () => {
      await until('no other client is connected', async () => (await clients()) === 1);
      const { locks, app } = await start({ enabled: false });
      expect(await clients()).toBe(1);
      await acquired(locks, 'nightly-import');
      expect(await clients()).toBeGreaterThan(1);
      await app.close();
      await until('its connections are closed', async () => (await clients()) === 1);
      expect(await redis.get(LOCK)).not.toContain('holder');

      const module = SingletonJobModule.forRoot({ projectName: 'myapp', enabled: false });
      await using nowhere = await startApplication({ imports: [module] });
      await expect(nowhere.app.get(LockService).tryAcquire('x')).rejects.toThrow('connection must be given');
    });

    it('keeps its locks until every provider is destroyed, and then releases them', async () => {
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
      expect(await redis.get(LOCK)).not.toContain('holder');
      await expect(locks.tryAcquire('nightly-import')).rejects.toThrow('the application has stopped');
    });

    it('uses the connections of the jobs', async () => {
      class Prices {
        @FixedRate('100ms', { name: 'price-tick' })
        tick(): void {
          // that it is led is enough
        }
      }
      await until('no other client is connected', async () => (await clients()) === 1);
      const { locks } = await start({}, { providers: [Prices] });
      await Promise.all(['x', 'y', 'z'].map((key) => acquired(locks, key)));
      await until('the job is led', async () => (await redis.exists('{myapp}:price-tick:lock')) === 1);
      await until('the connections stand', async () => (await clients()) === 1 + 2);
      await Promise.all(['u', 'v', 'w'].map((key) => acquired(locks, key)));
      expect(await clients()).toBe(1 + 2);
    });

    it('lets the process end after it is closed, with a held lock and a waiting request', async () => {
      const script = join(import.meta.dirname, '../support/locking-application.ts');
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, server().url], {
        timeout: 60_000,
      });
      expect(stdout.trim()).toBe(
        'false, LocksClosedError: the application has stopped: nothing can be locked any more',
      );
      expect(await redis.zrange('{exits}:leases', '0', '-1')).toEqual([expect.not.stringContaining('@')]);
    });
  });
});
