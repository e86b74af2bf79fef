import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Cron as NestCron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Cron, type JobRun, SingletonJobRegistry, UnknownJobError } from 'nestjs-singleton-job';
import { InMemoryReplicas, type InMemoryReplica } from 'nestjs-singleton-job/testing';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import { TasksService } from './migration-samples/after.js';
import { Work } from './migration-samples/work.js';

// what it refuses is in bad-decorators.spec.ts, and the lines about forgotten imports are in discovery.spec.ts
const SAMPLES = join(import.meta.dirname, 'migration-samples');
const read = (name: string): string => readFileSync(join(SAMPLES, name), 'utf8');

const providers = [TasksService, { provide: Work, useFactory: () => new Work() }];

describe('a class for @nestjs/schedule with another import', () => {
  it('needs no other change', () => {
    expect(read('after.ts')).toBe(read('before.ts').replace("'@nestjs/schedule'", "'nestjs-singleton-job'"));
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
  it('shows the errors of the library', async () => {
    const options = { utcOffset: 8, waitForCompletion: false } as object;
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
  let replicas: InMemoryReplicas;
  let work: Work;
  let [a, b]: InMemoryReplica[] = [];

  beforeEach(() => {
    replicas = new InMemoryReplicas('2027-01-01T00:00:01Z');
    work = new Work((ms) => replicas.clock.sleep(ms));
    [a, b] = ['a', 'b'].map((name) => replicas.start(name, [new TasksService(work)]));
  });
  afterEach(() => replicas.end());

  /** When the runs of a job began on any replica, in seconds. */
  const runsOf = (job: string): number[] =>
    [a, b].flatMap((replica) =>
      (replica?.observer.events ?? [])
        .filter(({ event, payload }) => event === 'runStarted' && payload.job === job)
        .map(({ atMs }) => atMs / 1_000),
    );
  const eventsOf = (event: 'tickDropped' | 'runFailed', job: string): number =>
    [a, b].flatMap((replica) => replica?.observer.of(event).filter((payload) => payload.job === job) ?? []).length;

  it('each occurrence runs on one replica', async () => {
    await replicas.clock.advance(30_000);
    expect(runsOf('TasksService.everyTenSeconds')).toEqual([9, 19, 29]);
    expect(work.notes.filter((note) => note === 'every ten seconds')).toHaveLength(3);
  });

  it('an interval begins at once, and counts from the end of a run', async () => {
    await replicas.clock.advance(6_000);
    expect(runsOf('poll')).toEqual([0, 2.5, 5]);
  });

  it('a cron job does not overlap with itself: the occurrence is dropped and reported', async () => {
    await replicas.clock.advance(15_000);
    expect(runsOf('report')).toEqual([4, 14]);
    expect(eventsOf('tickDropped', 'report')).toBe(1);
  });

  it('a disabled job does not run, and one with an initial delay not before', async () => {
    await replicas.clock.advance(5_000);
    expect(runsOf('off')).toEqual([]);
    expect(runsOf('delayed')).toEqual([4, 5]);
  });

  it('a run that throws is reported, and the next one runs', async () => {
    await replicas.clock.advance(9_000);
    expect(runsOf('TasksService.sweep')).toEqual([0, 4, 8]);
    expect(eventsOf('runFailed', 'TasksService.sweep')).toBe(3);
  });
});

describe('beside SingletonJob for .NET', () => {
  class Reports {
    @Cron('*/10 * * * * *', { name: 'report' })
    write(): void {}
  }

  it('an occurrence that ran there is reported and not run again with misfireGrace 0', async () => {
    const replicas = new InMemoryReplicas('2027-01-01T00:00:00Z');
    const before = replicas.start('before', [new Reports()]);
    await replicas.clock.advance(15_000);
    await before.stop();
    replicas.server.occupy('report', 'dotnet-1', 35_500);
    const after = replicas.start('after', [new Reports()], { misfireGrace: 0 });
    await replicas.clock.advance(46_000);

    expect(after.story).toEqual([
      '50501 leadershipGained',
      '50501 occurrencesMissed late',
      '60000 runStarted schedule',
      '60000 runSucceeded schedule',
    ]);
    expect(after.observer.of('occurrencesMissed')).toMatchObject([{ count: 4 }]);
    await replicas.end();
  });

  it('a replica leads one heartbeat after the lock was released there', async () => {
    const replicas = new InMemoryReplicas('2027-01-01T00:00:01Z');
    replicas.server.occupy('report', 'dotnet-1', 60_000);
    replicas.start('a', [new Reports()]);
    await replicas.clock.advance(10_000);
    expect(replicas.leaderOf('report')).not.toBe('a');
    replicas.server.free('report');
    await replicas.clock.advance(3_500);

    expect(replicas.leaderOf('report')).toBe('a');
    await replicas.end();
  });
});

describe('after an outage of the whole application', () => {
  it('an occurrence within the misfire grace runs late', async () => {
    const due: string[] = [];
    class Reports {
      @Cron('0 3 * * *', { name: 'daily-report', misfireGrace: '6h' })
      write(run: JobRun): void {
        due.push(run.scheduledAt.toISOString());
      }
    }
    const replicas = new InMemoryReplicas('2027-01-01T02:49:00Z');
    const before = replicas.start('before', [new Reports()]);
    await replicas.clock.advance(60_000);
    before.kill();
    await replicas.clock.advance(130 * 60_000);
    replicas.start('after', [new Reports()]);
    await replicas.clock.advance(60_000);

    expect(due).toEqual(['2027-01-01T03:00:00.000Z']);
    await replicas.end();
  });
});
