import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { stripVTControlCharacters } from 'node:util';
import { type ReplicaEvent } from './replicas.js';
import { Timeline } from './timeline.js';

const job = 'price-tick';
const START_MS = Date.UTC(2026, 0);

function event(name: ReplicaEvent['event'], node: string, atMs: number, payload?: object): ReplicaEvent {
  return { event: name, node, atMs: START_MS + atMs, pid: 7, payload } as ReplicaEvent;
}

describe('the timeline of the demo', () => {
  const ready = ['A', 'B'].map((node) => event('ready', node, 0));
  const gained = event('leadershipGained', 'A', 1, { job, fencingToken: 5 });
  const started = event('runStarted', 'A', 2, { job });
  let lines: string[];
  let timeline: Timeline;

  beforeEach(() => {
    jest.useFakeTimers({ now: START_MS });
    lines = [];
    // without colours and without the time, which is that of this machine
    jest.spyOn(console, 'log').mockImplementation((line: string) => {
      lines.push(stripVTControlCharacters(line).slice(16));
    });
    timeline = new Timeline();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  function draw(...events: readonly ReplicaEvent[]): void {
    for (const one of events) timeline.add(one);
    timeline.flush();
  }

  it('shows the state of each job on each replica, and what happened', () => {
    const long = event('runSucceeded', 'A', 1_202, { job, durationMs: 1_200 });
    const released = event('leadershipReleased', 'A', 1_203, { job, confirmed: true });
    draw(...ready, gained, started, long, released, event('stopping', 'B', 1_300));
    expect(lines).toEqual([
      '· · ·                     A is there, pid 7',
      '· · ·    · · ·            B is there, pid 7',
      '· ◆ ·    · · ·            price-tick    A leads, token 5',
      '· ● ·    · · ·            price-tick    runs on A',
      '· ✓ ·    · · ·            price-tick    done on A after 1.20 s',
      '· ◇ ·    · · ·            price-tick    A gives the lead back',
      '· · ·    · · ·            B is stopped (SIGTERM)',
    ]);
  });

  it('marks the jobs that a replica led when it is gone, and omits short runs', () => {
    const short = event('runSucceeded', 'A', 12, { job, durationMs: 10 });
    draw(
      ...ready,
      gained,
      started,
      short,
      event('killed', 'A', 20),
      event('exited', 'A', 21),
      event('killed', 'B', 30),
    );
    expect(lines.slice(4)).toEqual([
      '· │ ·    · · ·            A is killed (SIGKILL)',
      '  ✖      · · ·            A is gone',
      '         · · ·            B is killed (SIGKILL)',
    ]);
  });

  it('prints events in the order in which they happened', () => {
    timeline.add(started);
    jest.advanceTimersByTime(50);
    timeline.add(gained);
    expect(lines).toEqual([]);
    jest.advanceTimersByTime(100);
    expect(lines.map((line) => line.split('price-tick    ')[1])).toEqual(['A leads, token 5', 'runs on A']);
  });
});
