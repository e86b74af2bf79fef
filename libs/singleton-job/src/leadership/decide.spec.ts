import { describe, expect, it } from '@jest/globals';
import * as decide from './decide.js';
import { ABSENT, type JobRecord, type SeenRecord } from './record.js';

/** A new process `a`, in an incarnation that began at 1,000 by the clock of the store. */
const SIGHT: decide.Sight = {
  incarnation: { id: 'now', since: 1_000, isFirst: false },
  metAt: { now: 50, wall: 5_000 },
  metTime: 1_200,
  knewAnother: false,
  longestLifeMs: 10_000,
  leases: new Map([
    ['a.1@10000', 9_000],
    ['b.1@10000', 4_000],
  ]),
};
const FIRST = { incarnation: { ...SIGHT.incarnation, isFirst: true } };
const KNEW_ANOTHER = { knewAnother: true };

function record(value: JobRecord, revision = 1_100): SeenRecord {
  return { revision, value };
}

describe('a record', () => {
  const of = (holder: string, incarnation = 'now') => record({ holder, incarnation });

  it.each([
    { by: 'nobody', seen: record({ incarnation: 'now' }), is: 'free' },
    { by: 'a replica that is alive', seen: of('b.1@10000#1'), is: 'held' },
    { by: 'a replica whose lease has ended', seen: of('b.2@10000#1'), is: 'free' },
    { by: 'a replica that wrote it in an older incarnation', seen: of('b.1@10000#1', 'old'), is: 'free' },
    { by: 'a replica whose name begins alike', seen: of('a.1.b.1@10000#1'), is: 'free' },
    { by: 'the own term', seen: of('a.1@10000#7'), is: 'held' },
    { by: 'an own attempt without a term', seen: of('a.1@10000#6'), is: 'stray, to be released' },
    { by: 'an own attempt whose lease has ended', seen: of('a.2@10000#7'), is: 'stray' },
    { by: 'an own attempt of an older incarnation', seen: of('a.1@10000#6', 'old'), is: 'stray' },
  ])('that names $by is $is', ({ seen, is }) => {
    const self = { replicaId: 'a', holder: 'a.1@10000#7' };
    expect({
      isHeld: decide.isHeld(seen, self, SIGHT),
      isStray: decide.isStray(seen, self),
      mustRelease: decide.mustRelease(seen, self, SIGHT),
    }).toEqual({
      isHeld: is === 'held',
      isStray: is.startsWith('stray'),
      mustRelease: is === 'stray, to be released',
    });
  });
});

describe('the grace period', () => {
  const times = { now: 100, storeNow: 1_250, lifeMs: 10_000 };
  const bySince = times.now + SIGHT.incarnation.since + 10_000 - times.storeNow;
  const byOwnClock = SIGHT.metAt.now + 10_000;
  const older = record({ holder: 'b.1@10000#1', incarnation: 'old' });
  const ofNow = record({ incarnation: 'now' });
  const forgotten = record({ incarnation: 'old' });

  it.each<{ rule: string; seen: SeenRecord; sight?: object; at?: object; end: number }>([
    { rule: 'ends for a new process one life after the incarnation began', seen: older, end: bySince },
    {
      rule: 'ends one life after it met the incarnation, if that is sooner',
      seen: older,
      at: { storeNow: 900 },
      end: byOwnClock,
    },
    { rule: 'holds for a record that is absent', seen: ABSENT, end: bySince },
    { rule: 'holds for a record that was released before', seen: forgotten, end: bySince },
    {
      rule: 'lasts for the longest life that was met',
      seen: older,
      sight: { longestLifeMs: 30_000 },
      end: bySince + 20_000,
    },
    { rule: 'lasts for the life of the job at least', seen: older, at: { lifeMs: 60_000 }, end: bySince + 50_000 },
    {
      rule: 'counts from the own clock after another incarnation: a server may come back',
      seen: older,
      sight: KNEW_ANOTHER,
      at: { storeNow: 99_000 },
      end: byOwnClock,
    },
    { rule: 'is not for a record that was written in this incarnation', seen: ofNow, end: -Infinity },
    {
      rule: 'is not for a record that was written since this incarnation was met, after another one',
      seen: record({ incarnation: 'now' }, 1_200),
      sight: KNEW_ANOTHER,
      end: -Infinity,
    },
    {
      rule: 'is for a record that was written before this incarnation was met, after another one',
      seen: ofNow,
      sight: KNEW_ANOTHER,
      end: byOwnClock,
    },
    { rule: 'is not for an absent record in a first start', seen: ABSENT, sight: FIRST, end: -Infinity },
    { rule: 'is not for a record without a holder in a first start', seen: forgotten, sight: FIRST, end: -Infinity },
    { rule: 'is for a record with a holder in a first start', seen: older, sight: FIRST, end: bySince },
    {
      rule: 'is for an absent record in a first start, after another incarnation',
      seen: ABSENT,
      sight: { ...FIRST, ...KNEW_ANOTHER },
      end: byOwnClock,
    },
  ])('$rule', ({ seen, sight, at, end }) => {
    expect(decide.graceEnd(seen, { ...SIGHT, ...sight }, { ...times, ...at })).toBe(end);
  });
});

describe('the wait before a take', () => {
  it.each([
    { rule: 'is nothing if no other replica is alive', crowd: { others: 0, led: 9, jobs: 9 }, mostMs: 0 },
    { rule: 'is a few milliseconds between two replicas', crowd: { others: 1, led: 0, jobs: 10 }, mostMs: 2.5 },
    { rule: 'grows with the number of replicas', crowd: { others: 9, led: 0, jobs: 10 }, mostMs: 22.5 },
    { rule: 'is three times as long with a fair share of jobs', crowd: { others: 1, led: 5, jobs: 10 }, mostMs: 7.5 },
    { rule: 'takes one job for a fair share at least', crowd: { others: 9, led: 1, jobs: 1 }, mostMs: 67.5 },
  ])('$rule', ({ crowd, mostMs }) => {
    expect([0, 0.5, 1].map((random) => decide.takeDelayMs(crowd, () => random))).toEqual([0, mostMs / 2, mostMs]);
  });
});

describe('the next fencing token', () => {
  it.each([
    { rule: 'follows that of the record', seen: record({ fencingToken: 70 }), highest: 5, storeNow: 6, token: 71 },
    {
      rule: 'follows the highest that was seen',
      seen: record({ fencingToken: 5 }),
      highest: 70,
      storeNow: 6,
      token: 71,
    },
    { rule: 'is the time of the store at least', seen: ABSENT, highest: 0, storeNow: 1_250, token: 1_250 },
  ])('$rule', ({ seen, highest, storeNow, token }) => {
    expect(decide.nextFencingToken(seen, highest, storeNow)).toBe(token);
  });
});

describe('claims are lost', () => {
  const none = record({ pausedAt: 1 });
  const older = record({ fencingToken: 1, incarnation: 'old' });

  it.each([
    { rule: 'up to the take, of a record that is absent', seen: ABSENT, storeNow: 1_250, until: 1_250 },
    { rule: 'up to the take by the own clock, if that is ahead', seen: ABSENT, wallNow: 6_000, until: 6_000 },
    { rule: 'up to the take, of a record that no leader has written', seen: none, wallNow: 6_000, until: 6_000 },
    { rule: 'never, of a record of this incarnation', seen: record({ fencingToken: 1, incarnation: 'now' }), until: 0 },
    { rule: 'up to the begin of the incarnation, of an older record', seen: older, since: 9_000, until: 9_000 },
    { rule: 'up to when the incarnation was met, if the clock of the store is behind', seen: older, until: 5_000 },
  ])('$rule', ({ seen, since = 1_000, storeNow = 0, wallNow = 0, until }) => {
    const sight = { ...SIGHT, incarnation: { ...SIGHT.incarnation, since } };
    expect(decide.claimsLostUntil(seen, sight, { storeNow, wallNow })).toBe(until);
  });
});

describe('what earlier leaders leave', () => {
  const started = { startedAt: 40, by: 'a' };
  const ended = { ...started, endedAt: 50 };
  const later = { startedAt: 60, by: 'b' };

  it.each<{ rule: string; value: JobRecord; memory: decide.Memory; left: object }>([
    {
      rule: 'is in the record',
      value: { fencingToken: 5, lastScheduledAt: 40, run: started },
      memory: {},
      left: { lastScheduledAt: 40, run: started },
    },
    {
      rule: 'is the end of a run that outlived its term, if no later term was there',
      value: { fencingToken: 5, run: started },
      memory: { fencingToken: 5, run: ended },
      left: { run: ended },
    },
    {
      rule: 'is the run of a later term, if one was there',
      value: { fencingToken: 6, run: later },
      memory: { fencingToken: 5, run: ended },
      left: { run: later },
    },
    {
      rule: 'is the newest occurrence, also if this replica remembers it',
      value: { fencingToken: 6, lastScheduledAt: 40 },
      memory: { fencingToken: 5, lastScheduledAt: 50 },
      left: { lastScheduledAt: 50 },
    },
    {
      rule: 'is the newest occurrence, also if the record has it',
      value: { fencingToken: 5, lastScheduledAt: 50 },
      memory: { fencingToken: 5, lastScheduledAt: 40 },
      left: { lastScheduledAt: 50 },
    },
    {
      rule: 'is remembered where the record is gone',
      value: {},
      memory: { fencingToken: 5, lastScheduledAt: 40, run: ended },
      left: { lastScheduledAt: 40, run: ended },
    },
    {
      rule: 'is the run of the record if the last term had none',
      value: { fencingToken: 5, run: later },
      memory: { fencingToken: 5 },
      left: { run: later },
    },
  ])('$rule', ({ value, memory, left }) => {
    expect(decide.leftBehind(value, memory)).toEqual(left);
  });
});

describe('the run of a leader that is gone', () => {
  const run = { startedAt: 40, by: 'b' };

  it.each([
    { rule: 'is interrupted now if it has no end', was: run, is: { ...run, endedAt: 100, outcome: 'interrupted' } },
    {
      rule: 'ends no earlier than it began, if the clock of the store was set back',
      was: { ...run, startedAt: 400 },
      is: { ...run, startedAt: 400, endedAt: 400, outcome: 'interrupted' },
    },
    { rule: 'is not if it has ended', was: { ...run, endedAt: 0 }, is: undefined },
    { rule: 'is not if there was none', was: undefined, is: undefined },
  ])('$rule', ({ was, is }) => {
    expect(decide.interruptedRun(was, 100)).toEqual(is);
  });
});

describe('a term', () => {
  const holder = 'a.1@10000#7';
  const ours = { holder, fencingToken: 70, incarnation: 'now' };
  const older = { ...ours, incarnation: 'old' };
  const taken = { holder: 'b.1@10000#1', fencingToken: 70, incarnation: 'now' };
  const unreadable: SeenRecord = { ...ABSENT, isUnreadable: true };

  it.each<{ rule: string; seen: SeenRecord; step: decide.TermStep }>([
    { rule: 'goes on while the record names it', seen: record(ours), step: 'serve' },
    { rule: 'is lost when another has taken the record', seen: record(taken), step: 'lost' },
    {
      rule: 'is lost when another has taken the record and is gone',
      seen: record({ ...taken, holder: 'c.1@10000#1' }),
      step: 'lost',
    },
    { rule: 'is lost when the record was released', seen: record({ incarnation: 'now' }), step: 'lost' },
    { rule: 'is lost when the record was deleted', seen: ABSENT, step: 'lost' },
    { rule: 'is lost when the record cannot be read', seen: unreadable, step: 'lost' },
    { rule: 'is lost when an old record has come back', seen: record(older), step: 'lost' },
  ])('$rule', ({ seen, step }) => {
    const term = { holder, fencingToken: 70, incarnation: 'now', reclaimBy: undefined };
    expect(decide.termStep(term, seen, SIGHT, { replicaId: 'a', mayReclaim: true })).toBe(step);
  });

  it('goes on when the incarnation of before comes back', () => {
    const term = { holder, fencingToken: 70, incarnation: 'now', reclaimBy: { now: 900, wall: 900 } };
    expect(decide.termStep(term, record(ours), SIGHT, { replicaId: 'a', mayReclaim: true })).toBe('reclaimed');
  });

  it.each<{ rule: string; seen: SeenRecord; step: decide.TermStep; mayReclaim?: boolean }>([
    { rule: 'writes its record again', seen: record(older), step: 'reclaim' },
    { rule: 'writes a record that is gone again', seen: ABSENT, step: 'reclaim' },
    {
      rule: 'writes over an earlier leader of an old snapshot',
      seen: record({ ...taken, incarnation: 'old' }),
      step: 'reclaim',
    },
    {
      rule: 'writes over an earlier leader that is gone',
      seen: record({ ...taken, holder: 'c.1@10000#1', fencingToken: 69 }),
      step: 'reclaim',
    },
    { rule: 'goes on when the record names it', seen: record(ours), step: 'reclaimed' },
    { rule: 'is lost when another has taken the record', seen: record(taken), step: 'lost' },
    {
      rule: 'is lost when a later term has been there',
      seen: record({ fencingToken: 71, incarnation: 'old' }),
      step: 'lost',
    },
    { rule: 'is lost when the record cannot be read', seen: unreadable, step: 'lost' },
    { rule: 'is over at its deadline', seen: record(older), mayReclaim: false, step: 'expired' },
    {
      rule: 'is over at its deadline, also if the record names it',
      seen: record(ours),
      mayReclaim: false,
      step: 'expired',
    },
  ])('in another incarnation $rule', ({ seen, step, mayReclaim = true }) => {
    const term = { holder, fencingToken: 70, incarnation: 'old', reclaimBy: { now: 900, wall: 900 } };
    expect(decide.termStep(term, seen, SIGHT, { replicaId: 'a', mayReclaim })).toBe(step);
  });
});

describe('a write of a term', () => {
  const run = { startedAt: 40, by: 'a' };
  const command = { id: 'c1', action: 'trigger', until: 9_000 } as const;
  const order = { id: 'c1', until: 9_000, outcome: 'started', fields: { run } };
  const before = record({ holder: 'x', pausedAt: 1 }, 900);

  it.each<{
    rule: string;
    there: SeenRecord;
    own?: object;
    order?: decide.Order;
    before?: SeenRecord;
    value: JobRecord;
  }>([
    {
      rule: 'keeps what others have written',
      there: record({ pausedAt: 5, command, schedule: 'old' }),
      own: { schedule: 'new' },
      value: { pausedAt: 5, command, schedule: 'new' },
    },
    {
      rule: 'answers the command, with what the answer needs',
      there: record({ command }),
      own: { run: { ...run, startedAt: 1 } },
      order,
      value: { run, command: { ...command, outcome: 'started' } },
    },
    {
      rule: 'leaves another command alone',
      there: record({ command: { ...command, id: 'c2' } }),
      order,
      value: { run, command: { ...command, id: 'c2' } },
    },
    {
      rule: 'is on what is there, if that is newer',
      there: record({ schedule: 's' }),
      before,
      value: { schedule: 's' },
    },
    {
      rule: 'brings no old pause back with a snapshot',
      there: record({ pausedAt: 5 }),
      before: record({ schedule: 's' }, 1_200),
      value: { schedule: 's' },
    },
    {
      rule: 'keeps a pause of this incarnation on a snapshot',
      there: record({ pausedAt: 5, steeredIn: 'now' }),
      before: record({ schedule: 's' }, 1_200),
      own: { schedule: 's' },
      value: { pausedAt: 5, schedule: 's' },
    },
    {
      rule: 'keeps no pause of an earlier incarnation on a snapshot',
      there: record({ pausedAt: 5, steeredIn: 'old' }),
      before: record({ schedule: 's' }, 1_200),
      value: { schedule: 's' },
    },
  ])('$rule', ({ there, own = {}, value, ...term }) => {
    expect(decide.patched(there, { order: undefined, before: undefined, ...term, own }, 'now')).toEqual(value);
  });

  it('leaves a record without a holder at the end, and with what the term leaves', () => {
    const value = decide.released(
      { holder: 'x', fencingToken: 7, pausedAt: 5, run },
      { run: { ...run, endedAt: 50 } },
      'now',
    );
    expect(value).toEqual({ fencingToken: 7, pausedAt: 5, run: { ...run, endedAt: 50 }, incarnation: 'now' });
  });
});

describe('a command', () => {
  const command = { id: 'c1', action: 'step-down', until: 2_000 } as const;

  it.each([
    { rule: 'is obeyed', command, isObeyed: true },
    { rule: 'is not if there is none', command: undefined, isObeyed: false },
    { rule: 'is not if it is answered', command: { ...command, outcome: 'stepped-down' }, isObeyed: false },
    { rule: 'is not when its time is over', command, storeNow: 2_000, isObeyed: false },
    { rule: 'is not if it was there when the term began, or was carried out', command, ignored: 'c1', isObeyed: false },
    { rule: 'is obeyed after another one', command, ignored: 'c0', isObeyed: true },
  ])('$rule', ({ command: seen, ignored, storeNow = 1_999, isObeyed }) => {
    expect(decide.isToBeObeyed(seen, ignored, storeNow)).toBe(isObeyed);
  });
});
