import { describe, expect, it } from '@jest/globals';
import * as decide from './decide.js';
import {
  ABSENT,
  type JobRecord,
  type LeaderFields,
  type ObservedRecord,
  observedRecord,
  type Reply,
} from './record.js';

/** A new process `a`, in an incarnation that began at 1,000 by the clock of the store. */
const STORE: decide.ObservedStore = {
  replicaId: 'a',
  incarnation: { id: 'now', since: 1_000, isFirst: false },
  observedAt: { now: 50, storeTime: 5_000 },
  hasChanged: false,
  maxTtlMs: 10_000,
  leases: new Map(['a.1@10000', 'b.1@10000'].map((lease) => [lease, 4_000])),
};
const FIRST = { incarnation: { ...STORE.incarnation, isFirst: true } };
const SAW_ANOTHER = { hasChanged: true };
const UNREADABLE: ObservedRecord = { ...ABSENT, isUnreadable: true };

function record(value: JobRecord, revision = 1_100): ObservedRecord {
  return { revision, value };
}

it.each<[JobRecord['pause'], number, boolean]>([
  [undefined, 8, false],
  [{ at: 7 }, 8, true],
  [{ at: 7, until: 9 }, 8, true],
  [{ at: 7, until: 9 }, 9, false],
])('a job with the pause %j is paused at %d: %s', (pause, storeNow, isPaused) => {
  expect(decide.pauseOf({ pause }, storeNow)).toBe(isPaused ? pause : undefined);
});

describe('a record', () => {
  const of = (holder: string, incarnation = 'now') => record({ holder, incarnation });

  it.each<[string, string, ObservedRecord]>([
    ['free', 'no holder', record({ incarnation: 'now' })],
    ['held', 'a replica that is alive', of('b.1@10000#1')],
    ['free', 'a replica whose lease has ended', of('b.2@10000#1')],
    ['free', 'a replica that wrote it in an older incarnation', of('b.1@10000#1', 'old')],
    ['orphan', 'an own attempt without a term', of('a.1@10000#6')],
    ['free', 'an own attempt whose lease has ended', of('a.2@10000#7')],
    ['free', 'an own attempt of an older incarnation', of('a.1@10000#6', 'old')],
  ])('is %s if it names %s', (is, _by, seen) => {
    expect(decide.ownership(seen, STORE)).toBe(is);
  });
});

describe('the value of a record', () => {
  it.each(['{', '5', 'null', '[]'])('cannot be read if it is %s', (value) => {
    expect(observedRecord({ revision: 1, value })).toEqual(UNREADABLE);
  });
});

describe('the grace period', () => {
  const times = { now: 100, storeNow: 1_250, ttlMs: 10_000 };
  const bySince = times.now + STORE.incarnation.since + 10_000 - times.storeNow;
  const byOwnClock = STORE.observedAt.now + 10_000;
  const older = record({ holder: 'b.1@10000#1', incarnation: 'old' });
  const ofNow = record({ incarnation: 'now' });
  const released = record({ incarnation: 'old' });
  const unchanged = { ...ofNow, isUnchanged: true };
  const commanded = record({ incarnation: 'now', commandedIn: 'now' });

  it.each<[string, number, ObservedRecord, object]>([
    ['ends for a new process one TTL after the incarnation began', bySince, older, {}],
    ['ends one TTL after it met the incarnation, if that is sooner', byOwnClock, older, { storeNow: 900 }],
    ['holds for a record that is absent', bySince, ABSENT, {}],
    ['holds for a record that was released before', bySince, released, {}],
    ['lasts for the longest TTL that was met', bySince + 20_000, older, { maxTtlMs: 30_000 }],
    ['lasts for the TTL of the job at least', bySince + 50_000, older, { ttlMs: 60_000 }],
    ['is not for a record of this incarnation', -Infinity, ofNow, {}],
    ['is not for an absent record in a first start', -Infinity, ABSENT, FIRST],
    ['is not for a record without a holder in a first start', -Infinity, released, FIRST],
    ['is for a record with a holder in a first start', bySince, older, FIRST],
  ])('%s', (_rule, end, seen, but) => {
    expect(decide.graceEndsAt(seen, { ...STORE, ...but }, { ...times, ...but })).toBe(end);
  });

  it.each<[string, number, ObservedRecord, object]>([
    ['counts from the own clock: a server of before may come back', byOwnClock, older, { storeNow: 99_000 }],
    ['is not for a record that was written since this one was met', -Infinity, ofNow, {}],
    ['is for a record that was written before', byOwnClock, unchanged, {}],
    ['is for a record of before with a command', byOwnClock, commanded, {}],
    ['is for an absent record, also in a first start', byOwnClock, ABSENT, FIRST],
  ])('after another incarnation %s', (_rule, end, seen, but) => {
    expect(decide.graceEndsAt(seen, { ...STORE, ...SAW_ANOTHER, ...but }, { ...times, ...but })).toBe(end);
  });
});

describe('the wait before a take', () => {
  it.each<[string, number, readonly number[], readonly [number, number]]>([
    ['is nothing if no other replica is alive', 9, [], [0, 0]],
    ['is a few milliseconds between few replicas', 0, [9, 0], [0, 6]],
    ['is longer for one that leads half as many as another', 5, [10, 0], [3, 9]],
    ['is longest for those that lead most', 9, [9, 0], [6, 12]],
    ['is 100 ms at most, however many are alive that want no job', 400, Array<number>(500).fill(0), [50, 100]],
  ])('%s', (_rule, led, others, range) => {
    const loads = new Map([led, ...others].map((load, index) => [String(index), load]));
    expect([0, 1].map((random) => decide.takeDelayMs('0', loads, () => random))).toEqual(range);
  });
});

describe('claims are lost', () => {
  const older = record({ fencingToken: 1, incarnation: 'old' });
  const ofNow = record({ fencingToken: 1, incarnation: 'now' });

  it.each<[string, number, ObservedRecord, number]>([
    ['up to the take, of a record that is absent', 6_000, ABSENT, 6_000],
    ['up to the clock of the store before, if that was ahead', 5_000, ABSENT, 1_250],
    ['up to the take, of a record that no leader has written', 6_000, record({ pause: { at: 1 } }), 6_000],
    ['never, of a record of this incarnation', 0, ofNow, 6_000],
    ['up to when the incarnation was met, of an older record', 5_000, older, 6_000],
  ])('%s', (_rule, until, seen, storeNow) => {
    expect(decide.claimsLostUntil(seen, STORE, storeNow)).toBe(until);
  });

  it('up to when the incarnation was met, if data of before may have come back', () => {
    const until = (seen: ObservedRecord) => decide.claimsLostUntil(seen, { ...STORE, ...SAW_ANOTHER }, 0);
    expect([until(ofNow), until({ ...ofNow, isUnchanged: true })]).toEqual([0, 5_000]);
  });
});

describe('what earlier leaders leave', () => {
  const run = { startedAt: 40, by: 'a' };
  const ended = { ...run, endedAt: 50 };
  const later = { startedAt: 60, by: 'b' };
  const claimed = { startedAt: 60, by: 'a' };
  const outlived = { fencingToken: 5, run: ended };
  const versions = (...all: string[]) => ({ versions: all });
  const [before, setBack] = [
    { ...ended, occurrence: 40 },
    { ...claimed, startedAt: 30, occurrence: 50 },
  ];

  it.each<[string, JobRecord, { fencingToken?: number } & LeaderFields, object]>([
    ['is in the record', { fencingToken: 5, lastScheduledAt: 4, run }, {}, { lastScheduledAt: 4, run }],
    ['is the newest occurrence of the record', { lastScheduledAt: 5 }, { lastScheduledAt: 4 }, { lastScheduledAt: 5 }],
    ['is the newest occurrence remembered', { lastScheduledAt: 4 }, { lastScheduledAt: 5 }, { lastScheduledAt: 5 }],
    ['is each version, the newest last', versions('2', '3'), versions('1', '2'), versions('1', '2', '3')],
    ['is the end of a run that outlived its term', { fencingToken: 5, run }, outlived, { run: ended }],
    ['is remembered where the record is gone', {}, outlived, { run: ended }],
    ['is the run of a later term, if one was there', { fencingToken: 6, run: later }, outlived, { run: later }],
    ['is the run of the record, if the term had none', { fencingToken: 5, run }, { fencingToken: 5 }, { run }],
    ['is a claim without an answer that arrived', { fencingToken: 5, run: claimed }, outlived, { run: claimed }],
    ['is so with an earlier time, if the clock was set back', { run: setBack }, { run: before }, { run: setBack }],
  ])('%s', (_rule, value, { fencingToken = 0, ...own }, left) => {
    expect(decide.leftBehind(value, { fields: own, fencingToken })).toEqual(left);
  });
});

describe('the run of a leader that is gone', () => {
  const run = { startedAt: 40, by: 'b' };

  it.each([
    ['is interrupted now if it has no end', run, { ...run, endedAt: 100, outcome: 'interrupted' }],
    ['ends no earlier than it began', { ...run, startedAt: 400 }, { startedAt: 400, endedAt: 400 }],
    ['is not interrupted if it has ended', { ...run, endedAt: 0 }, undefined],
    ['is not interrupted if there was none', undefined, undefined],
  ])('%s', (_rule, was, is) => {
    expect(decide.interruptedRun(was, 100)).toEqual(is && expect.objectContaining(is));
  });
});

describe('a term', () => {
  const holder = 'a.1@10000#7';
  const ours = { holder, fencingToken: 70, incarnation: 'now' };
  const older = record({ ...ours, incarnation: 'old' });
  const taken = { holder: 'b.1@10000#1', fencingToken: 70, incarnation: 'now' };
  const takenByOneThatIsGone = record({ ...taken, holder: 'c.1@10000#1', fencingToken: 69 });
  const reclaim = { by: { now: 900, wall: 900 }, before: ABSENT };
  const step = (seen: ObservedRecord, mustReclaim: boolean) =>
    decide.termStep({ holder, fencingToken: 70, fields: {}, reclaim: mustReclaim ? reclaim : undefined }, seen, STORE);

  it.each<[string, decide.TermStep, ObservedRecord]>([
    ['goes on while the record names it', 'serve', record(ours)],
    ['is lost when another has taken the record', 'lost', record(taken)],
    ['is lost when another has taken the record and is gone', 'lost', takenByOneThatIsGone],
    ['is lost when the record was released', 'lost', record({ incarnation: 'now' })],
    ['is lost when the record was deleted', 'lost', ABSENT],
    ['is lost when the record cannot be read', 'lost', UNREADABLE],
    ['is lost when an old record has come back', 'lost', older],
  ])('%s', (_rule, expected, seen) => {
    expect(step(seen, false)).toBe(expected);
  });

  it.each<[string, decide.TermStep, ObservedRecord]>([
    ['writes its record again', 'reclaim', older],
    ['writes a record that is gone again', 'reclaim', ABSENT],
    ['writes over the leader of an old snapshot', 'reclaim', record({ ...taken, incarnation: 'old' })],
    ['writes over an earlier leader that is gone', 'reclaim', takenByOneThatIsGone],
    ['goes on when the record names it', 'serve', record(ours)],
    ['is lost when another has taken the record', 'lost', record(taken)],
    ['is lost when a later term has been there', 'lost', record({ fencingToken: 71, incarnation: 'old' })],
    ['is lost when the record cannot be read', 'lost', UNREADABLE],
  ])('in another incarnation %s', (_rule, expected, seen) => {
    expect(step(seen, true)).toBe(expected);
  });
});

describe('a write of a term', () => {
  const run = { startedAt: 40, by: 'a' };
  const command = { id: 'c1', action: 'trigger', until: 9_000 } as const;
  const other = { ...command, id: 'c2' };
  const answered = { ...command, outcome: 'started', run };
  const ended = { ...run, endedAt: 45, outcome: 'failed' as const };
  const follows = { fields: { run: { startedAt: 50, by: 'a' } } };
  const reply = { ...answered, fields: { run } };
  const own = { schedule: 's' };
  const paused = { pause: { at: 5 } };
  const [older, newer] = [record({ pause: { at: 1 } }, 900), record(own, 1_200)];
  const write = (there: ObservedRecord, { before = ABSENT, ...term }: { reply?: Reply; before?: ObservedRecord }) => {
    const reclaim = { by: { now: 900, wall: 900 }, before };
    return decide.recordOfTerm(
      there,
      { holder: 'h', fencingToken: 7, fields: {}, reclaim, ...term },
      term.reply,
      'now',
    );
  };

  it.each<[string, JobRecord, object, JobRecord]>([
    ['keeps what others have written', { ...paused, schedule: 'o' }, { fields: own }, { ...paused, ...own }],
    [
      'replies to the command, with its fields',
      { command },
      { fields: { run: {} }, reply },
      { run, command: answered },
    ],
    [
      'keeps the triggered run in its command, once another follows',
      { run: ended, command: answered },
      follows,
      { ...follows.fields, command: { ...answered, run: ended } },
    ],
    [
      'keeps no other run in a command',
      { run: { ...ended, startedAt: 42 }, command: answered },
      follows,
      { ...follows.fields, command: answered },
    ],
    ['leaves another command alone', { command: other }, { reply }, { run, command: other }],
    ['is on what is there, if that is newer', { schedule: 's' }, { before: older }, { schedule: 's' }],
    ['brings no old pause back with a snapshot', paused, { before: newer }, own],
    ['keeps a pause of this incarnation', { ...paused, commandedIn: 'now' }, { before: newer }, paused],
    ['keeps no pause of another', { ...paused, commandedIn: 'old' }, { before: newer }, own],
  ])('%s', (_rule, there, term, value) => {
    expect(write(record(there), term)).toEqual({ holder: 'h', fencingToken: 7, incarnation: 'now', ...value });
  });

  it('leaves a record without a holder at the end, and with what the term leaves', () => {
    const value = decide.recordWithoutHolder({ holder: 'x', fencingToken: 7, pause: { at: 5 } }, { run }, 'now');
    expect(value).toEqual({ fencingToken: 7, pause: { at: 5 }, run, incarnation: 'now' });
  });
});
