import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { until } from '../../tools/replicas/until.js';
import { problemsOf, startDisabled, startRunning } from '../support/nest-application.js';
import { FixedRate, type JobRegistration, SingletonJobRegistry } from 'nestjs-singleton-job';

const BEAT = { name: 'beat', schedule: { delay: '50ms' }, run: () => undefined } as const;

describe('SingletonJobRegistry', () => {
  it('cannot manage jobs of others without a connection', async () => {
    await using application = await startDisabled({});
    const jobs = application.app.get(SingletonJobRegistry);
    jobs.register(BEAT);
    for (const call of [jobs.overview(), jobs.trigger('beat'), jobs.pause('beat'), jobs.pauseAll(), jobs.resumeAll()])
      await expect(call).rejects.toThrow(
        'need a connection:\n  - connection must be given to manage jobs of other replicas',
      );
  });

  it('runs jobs of each kind that are registered in a constructor, during the start, and after it', async () => {
    const ran = new Set<string>();
    const register = (jobs: SingletonJobRegistry, name: string, schedule: JobRegistration['schedule']) => {
      jobs.register({ name, schedule, run: () => void ran.add(name) });
    };

    @Injectable()
    class Registrar implements OnModuleInit, OnApplicationBootstrap {
      constructor(private readonly jobs: SingletonJobRegistry) {
        register(jobs, 'constructor', { delay: '50ms' });
      }

      onModuleInit(): void {
        register(this.jobs, 'on-module-init', { period: '50ms' });
      }

      onApplicationBootstrap(): void {
        register(this.jobs, 'on-application-bootstrap', { cron: '* * * * * *' });
      }
    }

    @Module({})
    class LateModule {}

    await using application = await startRunning({ providers: [Registrar] });
    const registry = application.app.get(SingletonJobRegistry);
    // Nest calls no hooks of such a module
    await application.app.get(LazyModuleLoader).load(() => LateModule);
    register(registry, 'later', { whileLeader: true, restartDelay: '10ms' });
    await until('all have run', () => ran.size === 4);
    expect(registry.list().map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'constructor interval',
      'on-module-init fixed-rate',
      'on-application-bootstrap cron',
      'later while-leader',
    ]);
  });

  it('says of a trigger in a hook before the start that the jobs have not started', async () => {
    let reason: string | undefined;
    @Injectable()
    class Report implements OnApplicationBootstrap {
      constructor(private readonly jobs: SingletonJobRegistry) {
        jobs.register(BEAT);
      }

      async onApplicationBootstrap(): Promise<void> {
        const result = await this.jobs.trigger('beat');
        reason = result.started ? undefined : result.reason;
      }
    }
    await using application = await startRunning({ providers: [Report] });
    expect(application.jobs()).toEqual([]);
    expect(reason).toBe('not-started');
  });

  it('refuses a name that a decorated job has, naming both places', async () => {
    @Injectable()
    class Registrar {
      @FixedRate('100ms', { name: 'beat' })
      tick(): void {}

      constructor(jobs: SingletonJobRegistry) {
        jobs.register(BEAT);
      }
    }
    expect(await problemsOf(startDisabled({ providers: [Registrar] }))).toMatchSnapshot();
  });

  it.each<[string, unknown]>([
    ['what is no object', 7],
    ['everything missing', {}],
    ['a generator', { ...BEAT, *run() {} }],
    ['leadership of a text', { ...BEAT, schedule: { whileLeader: 'yes' } }],
    ['leadership that is turned off', { ...BEAT, schedule: { whileLeader: false } }],
    ['options that a @WhileLeader job does not have', { ...BEAT, schedule: { whileLeader: true }, timeout: '5s' }],
    ['two schedules', { ...BEAT, schedule: { delay: '1s', period: '1s' } }],
    ['what does not belong to a schedule', { ...BEAT, schedule: { delay: '1s', offset: '5s', cron: undefined } }],
    [
      'options of other kinds, and values that are none',
      { ...BEAT, name: 'a b', overlap: 'skip', timeout: 'long', lockExpiry: '10ms', nonsense: 1 },
    ],
    ['an expression that is none', { ...BEAT, schedule: { cron: 'never', timeZone: 'Mars/Phobos' } }],
  ])('refuses %s', async (_, registration) => {
    await using application = await startDisabled({});
    const registry = application.app.get(SingletonJobRegistry);
    expect(() => {
      registry.register(registration as JobRegistration);
    }).toThrowErrorMatchingSnapshot();
    expect(registry.list()).toEqual([]);
  });
});
