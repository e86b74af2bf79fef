import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { settle } from '../../testing/manual-clock.js';
import { type JobEvents } from './events.js';
import { type JobObserver, notifyAll } from './observer.js';
import { runnerFailed } from './warnings.js';

const WARNING = runnerFailed('tick', 'broken');
const GAINED = { job: 'tick', fencingToken: 7, because: 'first' } as const;

/** An observer that keeps the failures of others. */
function failures() {
  const reported: JobEvents['observerFailed'][] = [];
  const observer: JobObserver = { observerFailed: (event) => reported.push(event) };
  return { reported, observer };
}

describe('Observers', () => {
  it('are all called in order, each for the events that it implements', () => {
    const calls: string[] = [];
    const notify = notifyAll([
      { leadershipGained: ({ job }) => calls.push(`first ${job}`) },
      {},
      { leadershipGained: ({ job }) => calls.push(`third ${job}`) },
    ]);
    notify('leadershipGained', GAINED);
    expect(calls).toEqual(['first tick', 'third tick']);
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

  it('with onEvent get every event, after its own callback', () => {
    const calls: unknown[] = [];
    const notify = notifyAll([
      { leadershipGained: ({ job }) => calls.push(`gained ${job}`), onEvent: (event) => calls.push(event) },
    ]);
    notify('leadershipGained', GAINED);
    notify('warning', WARNING);
    expect(calls).toEqual([
      'gained tick',
      { event: 'leadershipGained', payload: GAINED },
      { event: 'warning', payload: WARNING },
    ]);
  });

  it('that throw do not affect the others, which get observerFailed', () => {
    const error = new Error('broken');
    const { reported, observer } = failures();
    const broken: JobObserver = {
      leadershipGained: () => {
        throw error;
      },
    };
    notifyAll([broken, observer])('leadershipGained', GAINED);
    expect(reported).toEqual([{ event: 'leadershipGained', error }]);
  });

  it('that reject do not affect the others, which get observerFailed', async () => {
    const error = new Error('broken');
    const { reported, observer } = failures();
    notifyAll([{ leadershipGained: () => Promise.reject(error) }, observer])('leadershipGained', GAINED);
    await settle();
    expect(reported).toEqual([{ event: 'leadershipGained', error }]);
  });

  it('that reject with a promise of another realm do not end the process', async () => {
    const { reported, observer } = failures();
    const foreign: unknown = runInNewContext("Promise.reject('broken')");
    notifyAll([{ leadershipGained: () => foreign }, observer])('leadershipGained', GAINED);
    await settle();
    expect(reported).toEqual([{ event: 'leadershipGained', error: 'broken' }]);
  });

  it('that never settle are not awaited', () => {
    const { reported, observer } = failures();
    notifyAll([{ leadershipGained: () => new Promise(() => undefined) }, observer])('leadershipGained', GAINED);
    expect(reported).toEqual([]);
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
