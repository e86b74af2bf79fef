import { describe, expect, it } from '@jest/globals';
import { stripVTControlCharacters } from 'node:util';
import { type RecordedRun } from '../replicas/history.js';
import { type ReplicaEvent } from './replicas.js';
import { summarize } from './summary.js';

const job = 'daily-report';

function run(node: string, scheduledAtMs: number, endedAtMs: number, startedAtMs = scheduledAtMs): RecordedRun {
  return { job, node, fencingToken: node.charCodeAt(0), scheduledAtMs, startedAtMs, endedAtMs };
}

function event(name: ReplicaEvent['event'], node: string, atMs: number, payload?: object): ReplicaEvent {
  return { event: name, node, atMs, payload } as ReplicaEvent;
}

describe('the summary of the demo', () => {
  const gained = (node: string, atMs: number): ReplicaEvent => event('leadershipGained', node, atMs, { job });
  const handOvers = [
    gained('A', 0),
    event('stopping', 'A', 3_100),
    gained('B', 3_407),
    event('exited', 'A', 3_500),
    event('tickDropped', 'B', 6_100, { job: 'price-tick', count: 2 }),
    event('killed', 'B', 6_200),
    event('exited', 'B', 6_203),
    gained('C', 6_903),
  ];
  const runs = [run('A', 0, 400), run('A', 3_000, 3_400), run('B', 6_000, 6_203), run('C', 9_000, 9_400)];

  it('measures from the last run after a SIGTERM, and from the end of the process after a SIGKILL', () => {
    const { table, faults } = summarize(handOvers.toReversed(), runs);
    expect(table.map((line) => stripVTControlCharacters(line).trim().split(/ {2,}/))).toEqual([
      ['hand-over', 'hand-over', 'dropped', 'overlapping'],
      ['job', 'leaders', 'on SIGTERM', 'on SIGKILL', 'runs', 'ticks', 'runs'],
      ['heartbeat', '–', '–', '0', '0', '0'],
      ['price-tick', '–', '–', '0', '2', '0'],
      [job, 'A → B → C', '7 ms', '700 ms', '4', '0', '0'],
    ]);
    expect(faults).toEqual([]);
  });

  it.each([
    ['an overlap', [run('A', 0, 400), run('B', 3_000, 3_400, 399)], /a run on B began before a run on A had ended/],
    ['an occurrence that ran twice', [run('A', 0, 400), run('B', 0, 900, 500)], /started-twice/],
    ['a lost occurrence', [run('A', 0, 400), run('A', 6_000, 6_400)], /neither started nor reported/],
    ['a smaller token', [run('B', 0, 400), run('A', 3_000, 3_400)], /token 65 came after token 66/],
  ])('reports %s', (_, history, fault) => {
    expect(summarize([], history).faults).toEqual([expect.stringMatching(fault)]);
  });

  it('accepts an occurrence that a replica reported as missed', () => {
    const missed = { job, reason: 'late', from: new Date(0), to: new Date(3_000), count: 1 };
    const { faults } = summarize(
      [event('occurrencesMissed', 'A', 6_000, missed)],
      [run('A', 0, 400), run('A', 6_000, 6_400)],
    );
    expect(faults).toEqual([]);
  });

  it('reports a replica that crashed', () => {
    const exits = [null, 0, 1].map((exitCode) => ({ event: 'exited', node: 'A', atMs: 0, exitCode }) as const);
    expect(summarize(exits, []).faults).toEqual(['A crashed with exit code 1']);
  });
});
