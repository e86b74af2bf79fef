import { Injectable } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Cron, FixedRate, type JobEvents, type JobObserver, SingletonJobModule } from 'nestjs-singleton-job';
import { until } from '../../../tools/replicas/until.js';
import { type StartedApplication, startApplication } from '../../support/nest-application.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';

@Injectable()
class OldVersion {
  @Cron('* * * * * *', { name: 'report' })
  report(): void {
    // that it ran is told to the observer
  }

  @FixedRate('200ms', { name: 'tick' })
  tick(): void {
    // the same
  }
}

@Injectable()
class NewVersion {
  @Cron('*/2 * * * * *', { name: 'report' })
  report(): void {
    // the same
  }

  @FixedRate('300ms', { name: 'tick', lockExpiry: '20s' })
  tick(): void {
    // the same
  }
}

/** What one replica told. */
class Diary implements JobObserver {
  readonly runs: JobEvents['runStarted'][] = [];
  readonly missed: JobEvents['occurrencesMissed'][] = [];
  readonly broken: unknown[] = [];

  runStarted(event: JobEvents['runStarted']): void {
    this.runs.push(event);
  }

  occurrencesMissed(event: JobEvents['occurrencesMissed']): void {
    this.missed.push(event);
  }

  runnerFailed(event: JobEvents['runnerFailed']): void {
    this.broken.push(event);
  }

  of(job: string): JobEvents['runStarted'][] {
    return this.runs.filter((run) => run.job === job);
  }
}

interface Replica extends StartedApplication {
  readonly diary: Diary;
}

describe('A rolling deploy of an application whose schedules change', () => {
  const redis = useRedis();
  const started: Replica[] = [];
  let deploys = 0;

  const start = async (version: typeof OldVersion | typeof NewVersion, projectName: string): Promise<Replica> => {
    const diary = new Diary();
    const module = SingletonJobModule.forRoot({
      projectName,
      connection: redis().url,
      heartbeatInterval: '1s',
      // hand-overs are releases: none waits for it, and a busy machine loses none
      lockExpiry: '10s',
      observers: [diary],
    });
    const replica = { ...(await startApplication({ imports: [module], providers: [version] })), diary };
    started.push(replica);
    return replica;
  };

  afterEach(async () => {
    await Promise.all(started.splice(0).map((replica) => replica[Symbol.asyncDispose]()));
  });

  const stop = async (replica: Replica): Promise<void> => {
    started.splice(started.indexOf(replica), 1);
    await replica.app.close();
  };

  it('starts no occurrence twice, leaves none untold, and runs by the new schedules when the old version is gone', async () => {
    const projectName = `deploy-${String(++deploys)}-${String(process.pid)}`;
    const old = [await start(OldVersion, projectName), await start(OldVersion, projectName)];
    await until('the old version runs', () => old.some(({ diary }) => diary.of('report').length > 2));
    const fresh: Replica[] = [];
    for (const replica of old) {
      fresh.push(await start(NewVersion, projectName));
      // old and new live side by side for a while
      await delay(2_500);
      await stop(replica);
    }
    const all = [...old, ...fresh].map(({ diary }) => diary);
    const oldRunsBefore = old.map(({ diary }) => diary.runs.length);
    // the two jobs may have leaders of their own
    const runsOf = (job: string): number => fresh.reduce((sum, { diary }) => sum + diary.of(job).length, 0);
    await until('the new version runs', () => runsOf('report') > 2 && runsOf('tick') > 5);
    expect(old.map(({ diary }) => diary.runs.length)).toEqual(oldRunsBefore);

    const occurrences = all.flatMap((diary) => diary.of('report').map(({ scheduledAt }) => scheduledAt.getTime()));
    expect(new Set(occurrences).size).toBe(occurrences.length);
    // the schedule changed once, and was told once: not at every renewal, and not by each replica
    const changes = all.flatMap(({ missed }) => missed).filter(({ reason }) => reason === 'schedule-changed');
    expect(changes).toHaveLength(1);
    const { from = new Date(NaN), to = new Date(NaN) } = changes[0] ?? {};
    const atOf = (replicas: readonly Replica[]) =>
      replicas.flatMap(({ diary }) => diary.of('report').map(({ scheduledAt }) => scheduledAt.getTime()));
    expect(Math.max(...atOf(old))).toBeLessThanOrEqual(from.getTime());
    expect(Math.min(...atOf(fresh))).toBeGreaterThan(to.getTime());
    for (const { diary } of fresh) {
      expect(diary.of('report').filter(({ scheduledAt }) => scheduledAt.getTime() % 2_000 !== 0)).toEqual([]);
      expect(diary.of('tick').filter(({ scheduledAt }) => scheduledAt.getTime() % 300 !== 0)).toEqual([]);
    }
    expect(all.flatMap(({ broken }) => broken)).toEqual([]);
  });
});
