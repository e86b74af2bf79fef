import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type RecordedEvent } from '../testing/index.js';
import { job, lasting } from '../../../../test/support/job.js';
import { keptLog } from '../../../../test/support/kept-log.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const every10Seconds = cron('*/10 * * * * *', { timeZone: 'UTC' });

/** An observer whose every callback is this. */
function always(callback: unknown): JobObserver {
  return new Proxy({}, { get: () => callback });
}

function explode(): never {
  throw new Error('hostile');
}

/** Throws at whatever is done to it. */
const mine = new Proxy(() => undefined, { get: explode, has: explode, apply: explode, getPrototypeOf: explode });

/** Overwrites everything in its payload that can be overwritten. */
function vandal(payload: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(payload)) {
    if (value instanceof Date) value.setTime(0);
    payload[key] = 'broken';
    Reflect.deleteProperty(payload, key);
  }
  payload['job'] = 'another';
}

const MISBEHAVING: readonly (readonly [string, JobObserver, { readonly isReported: boolean }])[] = [
  ['throws at everything', always(explode), { isReported: true }],
  ['throws what is no error', always(thrower(undefined)), { isReported: true }],
  ['throws a proxy that throws in turn', always(thrower(mine)), { isReported: true }],
  ['rejects', always(() => Promise.reject(new Error('hostile'))), { isReported: true }],
  ['rejects with nothing', always(async () => thrower(undefined)()), { isReported: true }],
  ['never comes to an end', always(() => new Promise(() => undefined)), { isReported: false }],
  ['returns a thenable that throws', always(() => ({ then: explode })), { isReported: true }],
  ['returns a thenable that never calls back', always(() => ({ then: () => undefined })), { isReported: false }],
  ['returns what throws when it is looked at', always(() => new Proxy({}, { has: explode })), { isReported: true }],
  ['has callbacks that throw when they are read', new Proxy({}, { get: explode }), { isReported: true }],
  ['has callbacks that are no functions', always(42), { isReported: true }],
  ['has callbacks that throw before they are called', always(mine), { isReported: true }],
  ['overwrites its payload', always(vandal), { isReported: false }],
];

function thrower(value: unknown): () => never {
  return () => {
    throw value as Error;
  };
}

describe('A misbehaving observer', () => {
  const replicas = useReplicas();

  /** Runs that succeed, fail and are cut off, dropped ticks, an outage, a lost lease, missed occurrences, a stop. */
  const eventfulMinute = async (observers: readonly JobObserver[]) => {
    const bad = (): Promise<void> => Promise.reject(new Error('boom'));
    const cutOff = lasting(replicas.clock, 60_000, { obedient: true });
    const a = replicas.start(
      'a',
      [
        job({ name: 'good' }),
        job({ name: 'bad', run: bad }),
        job({ name: 'slow', run: cutOff, timeoutMs: 9_500 }),
        job({ name: 'report', schedule: every10Seconds, misfireGraceMs: 2_000 }),
      ],
      { observers },
    );
    await replicas.clock.advance(15_500);
    await replicas.clock.block(5_000);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await replicas.clock.advance(25_000);
    a.store.outcome = () => 'answered';
    await replicas.clock.advance(15_000);
    void a.pool.stop();
    await replicas.clock.advance(10_000);
    return a.observer;
  };

  /** The same minute without a misbehaving observer. */
  let undisturbed: readonly RecordedEvent[] | undefined;

  it.each(MISBEHAVING)('that %s does not affect runs, leases and other observers', async (_, observer, how) => {
    const log = keptLog();
    const { events } = await eventfulMinute([observer, log.observer]);
    const failures = events.filter(({ event }) => event === 'observerFailed');
    expect(failures.length > 0).toBe(how.isReported);
    const kinds = new Set(events.map(({ event }) => event));
    // else there is nothing to change
    expect(kinds.size).toBe(how.isReported ? 16 : 15);

    await replicas.end();
    replicas.begin();
    undisturbed ??= (await eventfulMinute([])).events;
    expect(events.filter(({ event }) => event !== 'observerFailed')).toEqual(undisturbed);
    // it failed at all of them
    const lines = log.lines.filter((line) => line.includes('an observer failed'));
    expect(lines.length).toBeLessThanOrEqual(kinds.size);
    expect(lines.length > 0).toBe(how.isReported);
  });

  it('that is slow delays the runs of its process, but loses no lease', async () => {
    const slow = always(() => void replicas.clock.block(40));
    const a = replicas.start('a', [job()], { observers: [slow] });
    await replicas.clock.advance(60_500);
    expect(a.observer.of('runSucceeded')).toHaveLength(60);
    expect(a.observer.of('leadershipLost')).toEqual([]);
  });

  it('that gets the error of a job gets the same object as every other', async () => {
    const error = new Error('boom');
    const errors: unknown[] = [];
    const listener: JobObserver = { runFailed: (event) => errors.push(event.error) };
    replicas.start('a', [job({ run: () => Promise.reject(error) })], { observers: [listener, listener] });
    await replicas.clock.advance(1_000);
    expect(errors[0]).toBe(error);
    expect(errors[1]).toBe(error);
  });

  it('cannot change the jobs of eventLoopBlocked for the others', async () => {
    const empty = ({ jobs }: JobEvents['eventLoopBlocked']): void => void (jobs as string[]).splice(0);
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 2_000) })], {
      observers: [{ eventLoopBlocked: empty }],
    });
    await replicas.clock.advance(1_500);
    await replicas.clock.block(5_000);
    expect(a.observer.of('eventLoopBlocked')).toMatchObject([{ jobs: ['tick'] }]);
  });
});

describe('An observer of a starting run that uses up the lease', () => {
  const replicas = useReplicas();
  const through: RunInterceptor = { intercept: (_, next) => next() };

  /** Does something when it gets an event for the first time. */
  const onceAt = (event: keyof JobEvents, act: () => unknown): JobObserver => {
    let isDone = false;
    return {
      [event]: () => {
        if (!isDone) act();
        isDone = true;
      },
    };
  };
  const blockAt = (event: keyof JobEvents) => onceAt(event, () => void replicas.clock.block(9_000));

  it.each<[string, Partial<Job>, readonly RunInterceptor[]]>([
    ['a fixed rate', {}, []],
    ['an interval', { schedule: interval(1_000) }, []],
    ['cron', { schedule: every10Seconds }, []],
    ['a job with an interceptor', {}, [through]],
  ])('keeps the run of %s from beginning, and it is reported as cancelled', async (_, definition, interceptors) => {
    let begun = 0;
    const work = job({ ...definition, run: () => void (begun += 1) });
    const a = replicas.start('a', [work], { observers: [blockAt('runStarted')], interceptors });
    await replicas.clock.advance(40_000);
    const [first] = a.observer.of('runStarted');
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST', startedAt: first?.startedAt }]);
    expect(begun).toBeGreaterThan(0);
    expect(begun).toBe(a.observer.of('runSucceeded').length);
    expect(a.observer.of('runFailed')).toEqual([]);
  });

  it('keeps it from beginning also by an earlier report, and nothing is reported twice', async () => {
    const begun: Date[] = [];
    const work = job({
      schedule: every10Seconds,
      misfireGraceMs: 15_000,
      run: ({ scheduledAt }) => void begun.push(scheduledAt),
    });
    const before = replicas.start('before', [work]);
    await replicas.clock.advance(5_000);
    await before.pool.close();
    await replicas.clock.advance(26_000);
    const a = replicas.start('a', [work], { observers: [blockAt('occurrencesMissed')] });
    await replicas.clock.advance(1_000);
    expect(a.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late', count: 2 }]);
    expect(a.observer.of('runCancelled')).toMatchObject([
      { code: 'LEASE_LOST', scheduledAt: new Date('2027-01-01T00:00:30Z') },
    ]);
    await replicas.clock.advance(15_000);
    expect(begun).toEqual([new Date('2027-01-01T00:00:40Z'), new Date('2027-01-01T00:00:50Z')]);
    expect(a.observer.of('occurrencesMissed')).toHaveLength(1);
  });

  it('keeps it from beginning also on a suspended host, by its wall clock', async () => {
    let begun = 0;
    const slept = onceAt('runStarted', () => {
      replicas.clock.stepWall(8_500);
    });
    const a = replicas.start('a', [job({ run: () => void (begun += 1) })], { observers: [slept] });
    await replicas.clock.advance(1_500);
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST' }]);
    // it costs a run, not the term
    await replicas.clock.advance(5_000);
    expect(begun).toBeGreaterThan(0);
    expect(a.observer.of('leadershipLost')).toEqual([]);
  });
});
