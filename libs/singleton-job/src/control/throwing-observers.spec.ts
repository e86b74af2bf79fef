import { describe, expect, it } from '@jest/globals';
import { type JobEvent } from '../base/events/events.js';
import { type JobObserver, notifyAll } from '../base/events/observer.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { cron } from '../schedule/cron/cron.js';
import { type ManualClock, settle } from '../testing/manual-clock.js';
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
  ['returns what throws when it is looked at', always(() => new Proxy({}, { get: explode })), { isReported: true }],
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

  it.each(MISBEHAVING)(
    'that %s keeps no event from the others, and is reported if it fails',
    async (_, observer, how) => {
      const events: JobEvent[] = [];
      const event: JobEvent = { event: 'leaderChanged', payload: { job: 'tick', leader: 'b' } };
      notifyAll([observer, { onEvent: (one) => void events.push(one) }])(event.event, { ...event.payload });
      await settle();
      const failures = events.filter((one) => one.event === 'observerFailed');
      expect(events.filter((one) => one.event !== 'observerFailed')).toEqual([event]);
      expect(failures.length > 0).toBe(how.isReported);
    },
  );

  it('does not affect runs, leases and other observers, and is reported once for each kind of event', async () => {
    const log = keptLog();
    const bad = MISBEHAVING.map(([, observer]) => observer);
    const { events } = await eventfulMinute([...bad, log.observer]);
    await replicas.end();
    replicas.begin();
    const undisturbed = await eventfulMinute([]);
    expect(events.filter(({ event }) => event !== 'observerFailed')).toEqual(undisturbed.events);
    const kinds = new Set(undisturbed.events.map(({ event }) => event));
    // else there is nothing to change
    expect(kinds.size).toBe(15);
    const lines = log.lines.filter((line) => line.includes('an observer failed'));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(kinds.size);
  });
});

describe('An observer of a starting run that uses up the lease', () => {
  const replicas = useReplicas();
  const through: RunInterceptor = { intercept: (_, next) => next() };

  it.each<[string, (clock: ManualClock) => void, readonly RunInterceptor[]]>([
    ['', (clock) => void clock.block(9_000), []],
    [', also in an interceptor', (clock) => void clock.block(9_000), [through]],
    [
      ', also as a suspended host by its wall clock',
      (clock) => {
        clock.stepWall(8_500);
      },
      [],
    ],
  ])('keeps it from beginning, and it is reported as cancelled%s', async (_, act, interceptors) => {
    let isFirst = true;
    const slow: JobObserver = {
      runStarted: () => {
        if (isFirst) act(replicas.clock);
        isFirst = false;
      },
    };
    let begun = 0;
    const a = replicas.start('a', [job({ run: () => void (begun += 1) })], { observers: [slow], interceptors });
    await replicas.clock.advance(40_000);
    const [first] = a.observer.of('runStarted');
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST', startedAt: first?.startedAt }]);
    expect(begun).toBeGreaterThan(0);
    expect(begun).toBe(a.observer.of('runSucceeded').length);
    expect(a.observer.of('runFailed')).toEqual([]);
    // a suspension costs a run, not the term
    expect(a.observer.of('leadershipLost')).toHaveLength(begun > 35 ? 0 : 1);
  });
});
