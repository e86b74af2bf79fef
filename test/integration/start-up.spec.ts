import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { SystemClock } from '../../libs/singleton-job/src/base/time/system-clock.js';
import { deferred } from '../support/deferred.js';
import { compileApplication } from '../support/nest-application.js';
import { Interval, SingletonJobModule } from 'nestjs-singleton-job';
import { FaultyServer, MemoryStore } from 'nestjs-singleton-job/testing';

@Injectable()
class Report {
  runs = 0;
  readonly begun = deferred<undefined>();

  @Interval('1h', { name: 'report' })
  write(): void {
    this.runs += 1;
    this.begun.resolve(undefined);
  }
}

/** An application with one job and a module that does something in a hook. Not started. */
async function compile(hooks: object) {
  @Module({ providers: [{ provide: 'HOOKS', useValue: hooks }] })
  class OtherModule {}

  const store = new MemoryStore(new FaultyServer(new SystemClock()));
  const [open, sync, close] = [jest.spyOn(store, 'open'), jest.spyOn(store, 'sync'), jest.spyOn(store, 'close')];
  const module = SingletonJobModule.forRoot({ projectName: 'test', store });
  const app = await compileApplication({ imports: [module, OtherModule], providers: [Report] });
  return { app, open, sync, close, report: app.get(Report) };
}

describe.each(['onModuleInit', 'onApplicationBootstrap'])('an application whose other module, in %s,', (hook) => {
  it('fails has run no job', async () => {
    const failing = () => Promise.reject(new Error('the database is away'));
    const { app, open, sync, report } = await compile({ [hook]: failing });

    await expect(app.init()).rejects.toThrow('the database is away');
    await app.close();
    expect([report.runs, open.mock.calls, sync.mock.calls]).toEqual([0, [], []]);
  });

  it('waits while an HTTP application is closed, which does not wait for its start, runs no job after it', async () => {
    const [begun, hold] = [deferred<undefined>(), deferred<undefined>()];
    const slow = (): Promise<undefined> => {
      begun.resolve(undefined);
      return hold.promise;
    };
    const { app, open, report } = await compile({ [hook]: slow });
    const http = app.createNestApplication();

    const starting = http.init();
    await begun.promise;
    await http.close();
    hold.resolve(undefined);
    await Promise.allSettled([starting]);
    expect([report.runs, open.mock.calls]).toEqual([0, []]);
  });
});

describe('a module that is loaded later', () => {
  it('cannot add a second forRoot(), and the jobs go on', async () => {
    @Module({ imports: [SingletonJobModule.forRoot({ projectName: 'other', store: 'memory' })] })
    class LazyModule {}
    const { app, sync, close, report } = await compile({});
    await app.init();
    await report.begun.promise;

    await expect(app.get(LazyModuleLoader).load(() => LazyModule)).rejects.toThrow(
      'SingletonJobModule must be imported once, got it in AppModule',
    );
    await app.close();
    for (const call of [sync, close]) expect(call).toHaveBeenCalled();
  });
});
