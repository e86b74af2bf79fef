import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { type JobEvents } from '../base/events/events.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job } from '../testing/specs/job.js';
import { timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { sleep } from '../base/time/sleep.js';

const every10Seconds = cron('*/10 * * * * *', { timeZone: 'UTC', jobName: 'report' });
const DAY_MS = 24 * 3_600_000;

interface Seen {
  /** Starts without the lock, or while a run of another replica was in flight. */
  readonly faults: string[];
  inFlight: number;
}

describe('Replicas whose wall clocks are wrong', () => {
  const replicas = useReplicas();

  const start = (name: string, aheadMs: number, seen: Seen): TestReplica => {
    const run = async ({ job: of }: JobRun): Promise<void> => {
      if (replicas.server.holderOf(of)?.startsWith(`${name}.`) !== true)
        seen.faults.push(`${name} started without the lock`);
      if (of === 'grid') return;
      seen.inFlight += 1;
      if (seen.inFlight > 1) seen.faults.push(`${name} started beside another`);
      await sleep(replicas.clock, 300, new AbortController().signal);
      seen.inFlight -= 1;
    };
    const replica = replicas.prepare(name, [
      job({ name: 'report', schedule: every10Seconds, run }),
      job({ name: 'grid', schedule: fixedRate(1_000, { offsetMs: 0 }), run }),
    ]);
    replica.clock.aheadMs = aheadMs;
    replica.pool.start();
    return replica;
  };

  it.each([
    ['by a second', { a: 500, b: -500, step: 0 }],
    ['by more than the lock lives', { a: 15_000, b: -15_000, step: 0 }],
    ['by a day, the first ahead', { a: DAY_MS, b: 0, step: 0 }],
    ['by a day, the first behind', { a: -DAY_MS, b: 0, step: 0 }],
    ['by two days', { a: DAY_MS, b: -DAY_MS, step: 0 }],
    ['not at first, and are stepped ahead and back', { a: 0, b: 0, step: 20_000 }],
    ['not at first, and are stepped back and ahead', { a: 0, b: 0, step: -20_000 }],
    ['not at first, and are stepped a day ahead and back', { a: 0, b: 0, step: DAY_MS }],
    ['not at first, and are stepped a day back and ahead', { a: 0, b: 0, step: -DAY_MS }],
  ])('and differ %s start or report each occurrence once, and only with the lock', async (_how, { a, b, step }) => {
    const seen: Seen = { faults: [], inFlight: 0 };
    const [first, second] = [start('a', a, seen), start('b', b, seen)];
    await replicas.clock.advance(33_000);
    first.clock.aheadMs += step;
    await replicas.clock.advance(12_000);
    void first.pool.stop();
    await replicas.clock.advance(15_000);
    const third = start('c', a, seen);
    second.clock.aheadMs += step;
    await replicas.clock.advance(33_000);
    second.clock.aheadMs -= 2 * step;
    await replicas.clock.advance(12_000);
    void second.pool.stop();
    await replicas.clock.advance(45_000);

    const all = [first, second, third];
    const started = all.flatMap(({ observer }) =>
      observer
        .of('runStarted')
        .filter((run) => run.job === 'report')
        .map(({ scheduledAt }) => scheduledAt.getTime()),
    );
    expect(new Set(started).size).toBe(started.length);
    const reported = all.flatMap(({ observer }) => observer.of('occurrencesMissed'));
    const from = Date.UTC(2027, 0, 1);
    const lost = Array.from({ length: 12 }, (_, index) => from + (index + 1) * 10_000)
      .filter((due) => !started.includes(due))
      .filter(
        (due) =>
          !reported.some(
            (missed: JobEvents['occurrencesMissed']) => missed.from.getTime() < due && due <= missed.to.getTime(),
          ),
      );
    expect(lost).toEqual([]);
    expect(seen.faults).toEqual([]);
    for (const { observer } of all) expect(observer.of('leadershipGained').length).toBeGreaterThan(0);
  });
});

describe('A clock of Redis that is set back', () => {
  const replicas = useReplicas();

  it.each([2 * 60_000, DAY_MS])('by %i ms does not delay the takeover from a leader that dies then', async (stepMs) => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(31_000);
    replicas.clock.stepWall(-stepMs);
    a.kill();
    await replicas.clock.advance(13_000);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(1);
  });

  it('ends no lease', async () => {
    const a = replicas.start('a', [job({ lockExpiryMs: 800 })]);
    const b = replicas.start('b', [job({ lockExpiryMs: 800 })]);
    await replicas.clock.advance(31_010);
    replicas.clock.stepWall(-DAY_MS);
    await replicas.clock.advance(60_000);
    expect([...timesOf(a, 'leadershipLost'), ...timesOf(b, 'leadershipGained')]).toEqual([]);
  });
});
