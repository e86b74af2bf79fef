import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InvalidJobsError, InvalidOptionsError } from '../../base/errors/mistakes.errors.js';
import { type JobEvents } from '../../base/events/events.js';
import { type Duration } from '../../base/text/duration.js';
import { type JobRun } from '../../jobs/job-run.js';
import { Cron, FixedRate } from '../../jobs/job.decorators.js';
import { OnJobEvent } from '../../jobs/on-job-event.js';
import { InMemoryReplicas } from './in-memory-replicas.js';

class Prices {
  readonly runs: JobRun[] = [];

  @FixedRate('1s', { name: 'price-tick' })
  tick(run: JobRun): void {
    this.runs.push(run);
  }
}

describe('replicas in memory', () => {
  let replicas: InMemoryReplicas;
  const passes = (ms: number): Promise<void> => replicas.clock.advance(ms);

  beforeEach(() => {
    replicas = new InMemoryReplicas();
  });

  afterEach(async () => {
    await replicas.end();
    expect(replicas.clock.pendingTimers).toBe(0);
  });

  it('run their jobs also if the environment switches jobs off', async () => {
    process.env['SINGLETON_JOB_ENABLED'] = 'false';
    const prices = new Prices();
    replicas.start('a', [prices]);
    delete process.env['SINGLETON_JOB_ENABLED'];
    await passes(3_000);
    expect(prices.runs.length).toBe(3);
  });

  it('call the methods with @OnJobEvent', async () => {
    class Starts {
      readonly jobs: string[] = [];

      @OnJobEvent('runStarted')
      note({ job }: JobEvents['runStarted']): void {
        this.jobs.push(job);
      }
    }
    const starts = new Starts();
    replicas.start('a', [new Prices(), starts]);
    await passes(1_000);
    expect(starts.jobs).toEqual(['price-tick']);
  });

  it('have another leader after the first one is partitioned', async () => {
    const [a, b] = [replicas.start('a', [new Prices()]), replicas.start('b', [new Prices()])];
    await passes(100);
    expect(replicas.leaderOf('price-tick')).toBe('a');
    expect(replicas.leaderOf('price-tock')).toBeUndefined();
    a.partition();
    await passes(12_000);
    a.heal();
    await passes(2_000);
    const told = ({ eventLines }: typeof a) => eventLines.filter((line) => /leader|storeR/.test(line));
    expect(told(a).slice(1)).toEqual(['9000 leadershipLost expired', '12100 storeRecovered', '12100 leaderChanged b']);
    expect(told(b)).toEqual(['0 leaderChanged a', '10000 leadershipGained']);
    expect(replicas.leaderOf('price-tick')).toBe('b');
  });

  it('run a cron job by the wall clock of the test', async () => {
    replicas = new InMemoryReplicas('2027-03-01T02:59:59Z');
    const occurrences: string[] = [];
    class Early {
      @Cron('0,1 3 * * *', { name: 'early' })
      write({ scheduledAt }: JobRun): void {
        occurrences.push(scheduledAt.toISOString());
      }
    }
    replicas.start('a', [new Early()]);
    await passes(120_000);
    expect(occurrences).toEqual(['2027-03-01T03:00:00.000Z', '2027-03-01T03:01:00.000Z']);
  });

  it('send every event to other observers until they are killed', async () => {
    const heard: string[] = [];
    const a = replicas.start('a', [new Prices()], { observers: [{ runStarted: ({ job }) => heard.push(job) }] });
    await passes(1_000);
    a.kill();
    await passes(5_000);
    expect(heard).toEqual(['price-tick']);
  });

  it('say at the end which runs wait for something that the clock does not move', async () => {
    class Real {
      @FixedRate('1s', { name: 'real' })
      run(): Promise<void> {
        return new Promise(() => undefined);
      }
    }
    replicas.start('a', [new Real()]);
    await passes(1_000);
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      await replicas.end();
      expect(warn.mock.calls).toEqual([
        [expect.stringMatching(/^runs have not ended: real of a\./), 'SingletonJobWarning'],
      ]);
    } finally {
      warn.mockRestore();
    }
  });

  it('refuse what an application refuses at its start', () => {
    class Wrong {
      @FixedRate('no time at all' as Duration, { name: 'wrong' })
      run(): void {}
    }
    expect(() => replicas.start('a', [new Wrong()])).toThrow(InvalidJobsError);
    expect(() => replicas.start('a', [new Prices(), new Prices()])).toThrow(InvalidJobsError);
    expect(() => replicas.start('a', [{}])).toThrow(InvalidJobsError);
    expect(() => replicas.start('a', [new Prices()], { lockExpiry: '1ms' })).toThrow(InvalidOptionsError);
  });
});
