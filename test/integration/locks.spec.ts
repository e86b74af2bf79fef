import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Injectable, type OnModuleDestroy, type OnModuleInit, Sse } from '@nestjs/common';
import { NEVER, type Observable } from 'rxjs';
import { SystemClock } from '../../libs/singleton-job/src/base/time/system-clock.js';
import { until } from '../../tools/replicas/until.js';
import { RUNNING, startDisabled, startHttp, startRunning } from '../support/nest-application.js';
import { FixedRate, type LockHandle, LockLostError, LockService, SingletonJobModule } from 'nestjs-singleton-job';
import { FaultyServer, MemoryStore } from 'nestjs-singleton-job/testing';

describe('LockService in an application', () => {
  it('works while it starts, as for a migration', async () => {
    @Injectable()
    class Migration implements OnModuleInit {
      isDone = false;

      constructor(private readonly locks: LockService) {}

      async onModuleInit(): Promise<void> {
        this.isDone = await this.locks.withLock('migration', { wait: '30s' }, ({ signal }) => !signal.aborted);
      }
    }

    await using started = await startRunning({ providers: [Migration] });
    expect(started.app.get(Migration).isDone).toBe(true);
  });

  it('connects at first use if jobs are disabled', async () => {
    const store = new MemoryStore(new FaultyServer(new SystemClock()));
    const [open, close] = [jest.spyOn(store, 'open'), jest.spyOn(store, 'close')];
    let runs = 0;

    @Injectable()
    class Prices {
      @FixedRate('1ms')
      tick(): void {
        runs += 1;
      }
    }
    const { app } = await startDisabled({ providers: [Prices] }, { store });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([runs, open.mock.calls]).toEqual([0, []]);
    expect(await app.get(LockService).tryAcquire('nightly-import')).not.toBeNull();
    await app.close();
    for (const call of [open, close]) expect(call).toHaveBeenCalledTimes(1);
  });

  it('shares the store of the jobs, keeps its locks until every provider is destroyed, and then releases them', async () => {
    const held: boolean[] = [];

    @Injectable()
    class Importer implements OnModuleDestroy {
      isLed = false;
      handle: LockHandle | null = null;

      constructor(private readonly locks: LockService) {}

      @FixedRate('10ms', { name: 'price-tick' })
      tick(): void {
        this.isLed = true;
      }

      async onModuleDestroy(): Promise<void> {
        held.push(this.handle?.isHeld() === true);
        await this.locks.withLock('last-words', {}, ({ signal }) => held.push(!signal.aborted));
      }
    }

    const server = new FaultyServer(new SystemClock());
    const { app } = await startRunning({ providers: [Importer] }, { store: new MemoryStore(server) });
    const importer = app.get(Importer);
    const handle = (importer.handle = await app.get(LockService).tryAcquire('nightly-import'));
    await until('the job is led', () => importer.isLed);
    await app.close();
    expect(held).toEqual([true, true]);
    expect(handle?.signal.reason).toBeInstanceOf(LockLostError);
    const { records, leases } = server.snapshot();
    expect([...records.keys()].sort()).toEqual(['last-words:lock', 'nightly-import:lock', 'price-tick:job']);
    expect([...records.values()].filter(({ value }) => value.includes('holder'))).toEqual([]);
    expect([...leases]).toEqual([]);
  });

  it('ends its locks at a stop while Nest still waits for a request', async () => {
    @Controller()
    class Feed {
      @Sse('feed')
      follow(): Observable<never> {
        return NEVER;
      }
    }
    const imports = [SingletonJobModule.forRoot(RUNNING)];
    const { app, url } = await startHttp({ imports, controllers: [Feed] });
    const response = await fetch(`${url}/feed`);
    const lock = await app.get(LockService).tryAcquire('import');

    const closed = app.close();
    await until('the lock ends', () => lock?.signal.aborted === true);
    await response.body?.cancel();
    await closed;
  });
});
