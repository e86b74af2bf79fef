import { describe, expect, it } from '@jest/globals';
import { settle } from '../../testing/manual-clock.js';
import { type JobEvent } from './events.js';
import { type JobObserver, notifyAll } from './observer.js';
import { runnerFailed } from './warnings.js';

const WARNING = runnerFailed('tick', 'broken');
const GAINED = { job: 'tick', fencingToken: 7, because: 'first' } as const;

const AT = new Date('2027-01-01T00:00:00Z');
const RUN = {
  job: 'tick',
  kind: 'fixed-rate',
  cause: 'schedule',
  scheduledAt: AT,
  startedAt: AT,
  fencingToken: 7,
} as const;

function explode(): never {
  throw new Error('hostile');
}

/** Overwrites everything in its payload that can be overwritten. */
function vandal(payload: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(payload)) {
    if (value instanceof Date) value.setTime(0);
    else if (typeof value === 'object') vandal(value as Record<string, unknown>);
    payload[key] = 'broken';
  }
}

/** An observer whose every callback is this. */
const always = (callback: unknown): JobObserver => new Proxy({}, { get: () => callback });

/** With how many failures are reported. */
const MISBEHAVING: readonly (readonly [string, JobObserver, number])[] = [
  ['throws', always(explode), 2],
  ['rejects', always(() => Promise.reject(new Error('hostile'))), 2],
  ['returns a thenable that throws', always(() => ({ then: explode })), 2],
  ['returns what throws when it is looked at', always(() => new Proxy({}, { has: explode })), 2],
  ['throws when its callbacks are read', new Proxy({}, { get: explode }), 2],
  ['overwrites its payload', always(vandal), 0],
];

describe('Observers', () => {
  it('are all called in order, each for the events that it implements, and onEvent for every event after that', () => {
    const calls: unknown[] = [];
    const notify = notifyAll([
      { leadershipGained: ({ job }) => calls.push(`first ${job}`) },
      {},
      { leadershipGained: ({ job }) => calls.push(`third ${job}`), onEvent: (event) => calls.push(event) },
    ]);
    notify('leadershipGained', GAINED);
    notify('warning', WARNING);
    const events = [
      { event: 'leadershipGained', payload: GAINED },
      { event: 'warning', payload: WARNING },
    ];
    expect(calls).toEqual(['first tick', 'third tick', ...events]);
  });

  it('that are instances of a class keep their this', () => {
    class Counter implements JobObserver {
      count = 0;
      leadershipGained(): void {
        this.count += 1;
      }
    }
    const counter = new Counter();
    notifyAll([counter])('leadershipGained', GAINED);
    expect(counter.count).toBe(1);
  });

  it('get each event also if one of the library throws, as a logger may', () => {
    const events: string[] = [];
    const notify = notifyAll([{ onEvent: ({ event }) => events.push(event) }], [{ runStarted: explode }]);
    notify('runStarted', { ...RUN });
    expect(events).toEqual(['observerFailed', 'runStarted']);
  });

  it.each(MISBEHAVING)('get each event also if another one %s, which is reported once', async (_, observer, count) => {
    const events: JobEvent[] = [];
    const event: JobEvent = { event: 'runStarted', payload: RUN };
    notifyAll([observer, { onEvent: (each) => void events.push(each) }])(event.event, { ...event.payload });
    await settle();
    const failure = { event: 'observerFailed', payload: { event: event.event, error: expect.any(Error) } };
    expect(events.filter((each) => each.event !== 'observerFailed')).toEqual([event]);
    expect(events.filter((each) => each.event === 'observerFailed')).toEqual(Array(count).fill(failure));
  });
});
