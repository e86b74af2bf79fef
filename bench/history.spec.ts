import { describe, expect, it } from '@jest/globals';
import { type BenchEvent, type Happening } from './events.js';
import { accountForSeconds, countLeaderChanges, type History, overlappingRuns, overlappingTerms } from './history.js';

const at = (atMs: number, node: string, happening: Happening): BenchEvent => ({ ...happening, atMs, node });

/** A run of the job `tick`. `toMs` undefined: it never ended. */
function run(node: string, fromMs: number, toMs?: number): BenchEvent[] {
  const started = { type: 'started', job: 'tick', token: 1, run: fromMs, scheduledAt: fromMs } as const;
  const ended = { type: 'ended', job: 'tick', run: fromMs } as const;
  return [at(fromMs, node, started), ...(toMs === undefined ? [] : [at(toMs, node, ended)])];
}

function history(events: readonly BenchEvent[], rest: Partial<History> = {}): History {
  return { events, deaths: new Map(), freezes: [], ...rest };
}

describe('overlaps', () => {
  it('are runs of two replicas at one time', () => {
    expect(overlappingRuns(history([...run('a', 0, 100), ...run('b', 100, 200)]))).toEqual({ count: 0, longestMs: 0 });
    const events = [...run('a', 0, 1_000), ...run('b', 100, 130), ...run('b', 200, 250), ...run('a', 300, 400)];
    expect(overlappingRuns(history(events))).toEqual({ count: 2, longestMs: 50 });
  });

  it('end with the kill of a replica, and go on while a run has not ended', () => {
    const events = [...run('a', 0), ...run('b', 500, 600)];
    expect(overlappingRuns(history(events))).toEqual({ count: 1, longestMs: 100 });
    expect(overlappingRuns(history(events, { deaths: new Map([['a', 499]]) })).count).toBe(0);
  });

  it('leave out the time in which a process was stopped', () => {
    const events = [...run('a', 0, 1_010), ...run('b', 500, 600), ...run('b', 990, 1_200)];
    const freezes = [{ node: 'a', fromMs: 50, toMs: 1_000 }];
    expect(overlappingRuns(history(events, { freezes }))).toEqual({ count: 1, longestMs: 10 });
  });
});

describe('terms', () => {
  it('overlap from the grant to the next leader until the loss of the last one', () => {
    const term = (type: 'gained' | 'lost', token: number): Happening => ({ type, job: 'tick', token });
    const events = [at(0, 'a', term('gained', 1)), at(500, 'b', term('gained', 2)), at(700, 'a', term('lost', 1))];
    expect(overlappingTerms(history(events))).toEqual({ count: 1, longestMs: 200 });
  });
});

describe('occurrences', () => {
  it('are accounted for when they are started, dropped or missed', () => {
    const occurrences = [1_000, 2_000, 3_000, 9_000].flatMap((ms) => run('a', ms, ms + 1));
    const events = [
      ...occurrences,
      ...run('b', 3_000, 3_100),
      at(6_000, 'b', { type: 'dropped', job: 'tick', scheduledAt: 5_000, count: 2 }),
      at(9_000, 'b', { type: 'missed', job: 'tick', from: 6_000, to: 7_500 }),
    ];
    expect(accountForSeconds(history(events), 'tick')).toEqual({ twice: 1, lost: 2 }); // 3 s; 6 s and 8 s
  });
});

describe('leader changes', () => {
  it('are grants to another replica than before', () => {
    const gained = (ms: number, node: string): BenchEvent => at(ms, node, { type: 'gained', job: 'tick', token: ms });
    const events = [gained(10, 'a'), gained(20, 'b'), gained(30, 'b'), gained(40, 'a')];
    expect(countLeaderChanges(history(events), 0)).toBe(2);
    expect(countLeaderChanges(history(events), 40)).toBe(1);
  });
});
