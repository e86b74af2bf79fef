import { describe, expect, it } from '@jest/globals';
import { instant } from '../base/time/clock.js';
import { type Command, type JobRecord, type LeaderFields } from '../leadership/record.js';
import { StoreView } from '../leadership/store-view.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Replies } from './replies.js';

const HOLDER = 'a.1@10000#1';
const command: Command = { id: 'c1', action: 'trigger', until: 2_000 };
const another: Command = { ...command, id: 'c2' };
const started: Command = { ...command, outcome: 'started' };
const stepDown: Command = { ...command, action: 'step-down' };
const run = { startedAt: 40, by: 'c1' };

/** The replies of a term that found this command, at a time of the store. A trigger is started, a step-down done. */
function setup({ found, storeTime = 1_000 }: { found?: Command; storeTime?: number } = {}) {
  const clock = new ManualClock();
  const view = new StoreView('a', clock);
  const at = (time: number): void => {
    const incarnation = { id: 'memory/0', since: 0, isFirst: true };
    view.observe({ time, incarnation, leases: new Map(), records: [] }, instant(clock));
  };
  at(storeTime);
  const told = { fate: 'waits', fields: {} as LeaderFields, end: (): void => undefined };
  const term = {
    holder: HOLDER,
    predecessor: { record: { command: found } },
    release: undefined as object | undefined,
    set: (fields: LeaderFields) => (told.fields = fields),
    whenOver: (act: () => void) => (told.end = act),
  };
  const replies = new Replies(term as never, view, (one) => {
    if (one.action !== 'trigger') return { ...one, outcome: 'stepped-down' };
    const settle = (isShown: boolean) => (told.fate = isShown ? 'runs' : 'is cancelled');
    return { ...one, outcome: 'started', fields: { run }, settle };
  });
  return { at, replies, term, told };
}

describe('a command whose reply is written', () => {
  it.each<[string, JobRecord, number?]>([
    ['waits while the record does not show the reply', { command }],
    ['waits while the record names another holder', { command: started, holder: 'b.1@10000#1' }],
    ['runs when the record shows the reply', { command: started }],
    ['runs when the record shows the run, and the next command', { command: another, run }],
    ['is cancelled when the next command is there without the run', { command: { ...another, outcome: 'running' } }],
    ['is cancelled when the record shows that the leader releases', { command: { ...command, outcome: 'releasing' } }],
    ['is cancelled when the reply can arrive no more', { command }, 2_000],
  ])('%s', (rule, value, storeTime = 1_000) => {
    const { at, replies, told } = setup();
    replies.next(command);
    at(storeTime);
    replies.observe({ holder: HOLDER, ...value });
    replies.next(value.command);
    expect(rule.startsWith(told.fate)).toBe(true);
    // later writes keep the run
    expect(told.fields).toEqual(told.fate === 'runs' ? { run } : {});
    // an old snapshot may show it again
    at(0);
    if (told.fate !== 'waits') expect(replies.next(command)).toBeUndefined();
  });

  it('is cancelled when the term ends', () => {
    const { replies, told } = setup();
    replies.next(command);
    told.end();
    expect(told.fate).toBe('is cancelled');
  });
});

it('A leader that releases the job starts no run, and goes on to step down', () => {
  const { replies, term } = setup();
  replies.next(command);
  term.release = {};
  expect(replies.next(command)).toEqual({ ...command, outcome: 'releasing' });
  replies.observe({ holder: HOLDER, command: { ...command, outcome: 'releasing' } });
  expect(replies.next(another)).toEqual({ ...another, outcome: 'releasing' });
  const other = setup();
  other.replies.next(stepDown);
  other.term.release = {};
  expect(other.replies.next(stepDown)).toEqual({ ...stepDown, outcome: 'stepped-down' });
});

it('A term remembers no more than the last hundred commands', () => {
  const { replies } = setup({ found: another });
  for (let count = 0; count < 200; count += 1) {
    replies.next({ ...command, id: String(count) });
    replies.next(undefined);
  }
  expect(replies.ignored).toEqual(Array.from({ length: 100 }, (_, index) => String(index + 100)));
});

describe('a command', () => {
  it.each<[string, boolean, Command | undefined, number]>([
    ['has a reply', true, command, 1_999],
    ['has no reply if there is none', false, undefined, 0],
    ['has no reply if it has one', false, { ...command, outcome: 'stepped-down' }, 0],
    ['has no reply when its time is over', false, command, 2_000],
    ['has no reply if it ends later than its caller waits', false, command, -1],
    ['has no reply if it was there when the term began', false, another, 0],
  ])('%s', (_rule, hasReply, seen, storeTime) => {
    const { replies } = setup({ found: another, storeTime });
    expect(replies.next(seen) !== undefined).toBe(hasReply);
  });
});
