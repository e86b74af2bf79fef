import { expect, it } from '@jest/globals';
import { drawPicture } from './picture.js';
import { type ReplicaEvent } from './replicas.js';

const job = 'price-tick';

function event(name: ReplicaEvent['event'], node: string, atMs: number, payload?: object): ReplicaEvent {
  return { event: name, node, atMs, payload } as ReplicaEvent;
}

it('the picture of the demo shows replicas, leaders and runs to scale', () => {
  const events = [
    event('ready', 'A', 0),
    event('ready', 'B', 0),
    event('leadershipGained', 'A', 100, { job }),
    event('leadershipGained', 'B', 0, { job: 'another' }),
    event('stopping', 'A', 500),
    event('leadershipReleased', 'A', 600, { job }),
    event('exited', 'A', 600),
    event('leadershipGained', 'B', 600, { job }),
  ];
  const run = { job, fencingToken: 1, scheduledAtMs: 0 };
  const runs = [
    { ...run, node: 'A', startedAtMs: 200, endedAtMs: 600 },
    { ...run, node: 'B', startedAtMs: 900, endedAtMs: Infinity },
  ];
  const picture = drawPicture({ job, events, runs, endMs: 1_000 });
  const bars = [...picture.matchAll(/class="(replica|leader|run)" x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g)];
  // without those of the legend
  const drawn = bars.slice(3).map(([, kind, x, y, width]) => [kind, Number(y), Number(x) - 90, Number(width)]);
  expect(drawn).toEqual([
    ['replica', 77, 0, 396],
    ['leader', 70, 66, 330],
    ['run', 75, 132, 264],
    ['replica', 123, 0, 660],
    ['leader', 116, 396, 264],
    ['run', 121, 594, 66],
  ]);
  expect(picture).toMatch(/<line class="stopped" x1="420.0"/);
  expect(picture).toContain('prefers-color-scheme:dark');
});
