import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { job } from '../../../../test/support/job.js';
import { TestReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRecord, jobRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/without-ticks.js';

const SCHEDULES = [cron('* * * * * *'), fixedRate(1_000), interval(100), interval(11_000), whileLeader(1_000)];

/** As a leader left it, with each field that a replica reads. */
const RECORD: Record<keyof JobRecord, unknown> = {
  holder: undefined,
  fencingToken: 5,
  incarnation: 'memory/1',
  schedule: 'cron',
  lastScheduledAt: 1_000,
  run: {
    startedAt: 1_000,
    endedAt: undefined,
    outcome: undefined,
    error: undefined,
    by: 'b',
    occurrence: 1_000,
    crashes: 1,
  },
  versions: ['1'],
  pause: undefined,
  handover: { at: 1_000, to: 'b' },
  command: { id: 'c', action: 'trigger', until: 8e15, outcome: undefined },
  commandedIn: undefined,
};
const NUMBERS = [0, -1, 0.5, 1e300, 8e15, -8e15, 8.64e15, Number.MAX_SAFE_INTEGER, Date.UTC(2027, 0)];
const VALUES = fc.oneof(fc.jsonValue(), fc.constantFrom(...NUMBERS, 'a.1@10000#1', 'b.1@10000#1'));

/** The object with one of its fields, or a field of a field, replaced by any value. */
function withAnyField(object: object): fc.Arbitrary<unknown> {
  const entries = Object.entries(object) as [string, unknown][];
  const fields = entries.map(([name, field]) => {
    const values = typeof field === 'object' && field !== null ? fc.oneof(VALUES, withAnyField(field)) : VALUES;
    return values.map((value) => ({ ...object, [name]: value }));
  });
  return fc.oneof(...fields);
}

const rejections: unknown[] = [];
const note = (error: unknown) => void rejections.push(error);

beforeEach(() => {
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

it('A record that another program wrote concerns no other job', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(VALUES, withAnyField(RECORD)), async (record) => {
      const replicas = new TestReplicas();
      const { clock, server } = replicas;
      const jobs = SCHEDULES.map((schedule, index) => job({ name: `job-${String(index)}`, schedule }));
      const data = server.snapshot();
      const stored = { revision: 5, value: JSON.stringify(record), forgetAt: Infinity };
      for (const { name } of jobs) data.records.set(jobRecord(name), stored);
      server.loseData(data);
      const { observer, registry } = replicas.start('a', [...jobs, job({ name: 'other' })]);
      await clock.advance(11_000);
      const overview = registry.overview();
      await clock.advance(2_000);
      expect(await overview).toHaveLength(jobs.length + 1);
      const runs = observer.of('runSucceeded').filter((run) => run.job === 'other');
      const failures = observer.of('warning').filter(({ code }) => code === 'RUNNER_FAILED');
      expect([runs.length, failures, rejections]).toEqual([13, [], []]);
      await replicas.end();
    }),
  );
});
