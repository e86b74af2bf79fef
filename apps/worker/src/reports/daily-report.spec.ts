import { beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { singletonJobConfig } from '../config/singleton-job.config.js';
import { workerConfig } from '../config/worker.config.js';
import { DailyReport } from './daily-report.js';
import { ReportArchive } from './report-archive.js';
import { LeaseLostError } from 'nestjs-singleton-job';
import { FakeRun } from 'nestjs-singleton-job/testing';

const AT = new Date('2027-01-01T19:00:00Z');

/** An archive in memory. It never connects to its Redis. */
class Shelf extends ReportArchive {
  readonly saved: string[] = [];

  constructor() {
    super(singletonJobConfig());
  }

  override async save(body: string, fencingToken: number): Promise<void> {
    this.saved.push(`${body} by ${fencingToken}`);
  }
}

/** The job, and what it has archived; composing a report takes so long. */
function setup({ takesMs = 0 } = {}) {
  const shelf = new Shelf();
  const job = new DailyReport(shelf, { ...workerConfig(), dailyReport: { takesMs, computesMs: 0 } });
  return { job, saved: shelf.saved };
}

describe('the daily report', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  it('is archived with its occurrence and the fencing token of its run', async () => {
    const { job, saved } = setup();
    await job.write(new FakeRun({ scheduledAt: AT, fencingToken: 7 }));
    expect(saved).toEqual(['report of 2027-01-01T19:00:00.000Z by 7']);
  });

  it('is not archived by a run whose lease was lost before its signal fired', async () => {
    const { job, saved } = setup();
    const run = new FakeRun();
    run.loseLease();
    await expect(job.write(run)).rejects.toThrow(LeaseLostError);
    expect(saved).toEqual([]);
  });

  it('ends as soon as the signal of the run fires', async () => {
    const { job, saved } = setup({ takesMs: 60_000 });
    const run = new FakeRun();
    const writing = job.write(run);
    run.abort('SHUTDOWN');
    await expect(writing).rejects.toMatchObject({ cause: { code: 'SHUTDOWN' } });
    expect(saved).toEqual([]);
  });
});
