import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Cron as NestCron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Cron, SingletonJobRegistry, UnknownJobError } from 'nestjs-singleton-job';
import { InMemoryReplicas } from 'nestjs-singleton-job/testing';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import { TasksService } from './migration-samples/after.js';
import { Work } from './migration-samples/work.js';

// what it refuses is in bad-decorators.spec.ts, and the lines about forgotten imports are in discovery.spec.ts
const SAMPLES = join(import.meta.dirname, 'migration-samples');
const read = (name: string): string => readFileSync(join(SAMPLES, name), 'utf8');

const providers = [TasksService, { provide: Work, useFactory: () => new Work() }];

describe('a class for @nestjs/schedule with another import', () => {
  it('needs no other change but of two options, which start-up names', () => {
    const after = read('before.ts')
      .replace("'@nestjs/schedule'", "'nestjs-singleton-job'")
      .replace(', waitForCompletion: true', '')
      .replace('disabled: true', 'enabled: false');
    expect(read('after.ts')).toBe(after);
  });

  it('keeps names, expressions and zones, and uses UTC without a zone', async () => {
    await using started = await startDisabled({ providers });

    expect(started.jobs().map(({ name, schedule }) => `${name}: ${schedule.description}`)).toEqual([
      'TasksService.everyTenSeconds: cron */10 * * * * * UTC',
      'nightly: cron 0 30 3 * * * Europe/Berlin',
      'report: cron */5 * * * * * UTC',
      'off: cron * * * * * * UTC',
      'delayed: cron * * * * * * UTC',
      'poll: interval 2000ms',
      'TasksService.sweep: interval 4000ms',
    ]);
  });

  it('has its jobs in the registry by name', async () => {
    await using started = await startDisabled({ providers });
    const jobs = started.app.get(SingletonJobRegistry);

    expect(jobs.get('nightly')).toMatchObject({ kind: 'cron', role: 'disabled' });
    expect(() => jobs.get('nightl')).toThrow(UnknownJobError);
    jobs.register({ name: 'added', schedule: { cron: '0 * * * *' }, run: () => undefined });
    await jobs.unregister('added');
    expect(jobs.list()).toHaveLength(7);
  });

  it('works beside the ScheduleModule, whose registry does not have its jobs', async () => {
    @Injectable()
    class Caches {
      @NestCron('0 0 1 1 *', { name: 'refresh' })
      refresh(): void {}
    }
    await using started = await startDisabled({
      imports: [ScheduleModule.forRoot()],
      providers: [...providers, Caches],
    });

    expect([...started.app.get(SchedulerRegistry, { strict: false }).getCronJobs().keys()]).toEqual(['refresh']);
    expect(started.app.get(SingletonJobRegistry).list()).toHaveLength(7);
  });
});

describe('the page about moving', () => {
  it('shows the error of the library', async () => {
    const options = { utcOffset: 8 } as object;
    class Reports {
      @Cron('0 3 * * *', options)
      slow(): void {}
    }
    const page = readFileSync(join(import.meta.dirname, '../../docs/migrating/from-nestjs-schedule.md'), 'utf8');
    const shown = [...page.matchAll(/^ {2}- (.+)$/gm)].map(([, problem]) => problem);

    expect(shown).toEqual(await problemsOf(startDisabled({ providers: [Reports] })));
  });
});

describe('after the import was changed', () => {
  it('a disabled job does not run, and one with an initial delay not before', async () => {
    const replicas = new InMemoryReplicas('2027-01-01T00:00:01Z');
    const { observer } = replicas.start('a', [new TasksService(new Work((ms) => replicas.clock.sleep(ms)))]);
    await replicas.clock.advance(5_000);
    await replicas.end();
    const runsOf = (job: string) =>
      observer.events
        .filter(({ event, payload }) => event === 'runStarted' && payload.job === job)
        .map(({ atMs }) => atMs);

    expect(runsOf('off')).toEqual([]);
    expect(runsOf('delayed')).toEqual([4_000, 5_000]);
  });
});
