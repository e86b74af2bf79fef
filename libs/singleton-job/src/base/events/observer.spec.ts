import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { settle } from '../../testing/manual-clock.js';
import { type JobObserver, notifyAll } from './observer.js';
import { runnerFailed } from './warnings.js';

const WARNING = runnerFailed('tick', 'broken');
const GAINED = { job: 'tick', fencingToken: 7, because: 'first' } as const;

const BROKEN = new Error('broken');

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

  it.each<[string, () => unknown, unknown]>([
    [
      'throw',
      () => {
        throw BROKEN;
      },
      BROKEN,
    ],
    ['reject', () => Promise.reject(BROKEN), BROKEN],
    ['reject with a promise of another realm', (): unknown => runInNewContext("Promise.reject('broken')"), 'broken'],
  ])('that %s do not affect the others, which get observerFailed', async (_how, leadershipGained, error) => {
    const reported: unknown[] = [];
    notifyAll([{ leadershipGained }, { observerFailed: (event) => reported.push(event) }])('leadershipGained', GAINED);
    await settle();
    expect(reported).toEqual([{ event: 'leadershipGained', error }]);
  });

  it('that fail at observerFailed are not reported again', () => {
    const hopeless: JobObserver = {
      leadershipGained: () => {
        throw new Error('first');
      },
      observerFailed: () => {
        throw new Error('second');
      },
    };
    expect(() => {
      notifyAll([hopeless])('leadershipGained', GAINED);
    }).not.toThrow();
  });
});
