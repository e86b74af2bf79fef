import { describe, expect, it } from '@jest/globals';
import { instant } from '../base/time/clock.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Orders } from './orders.js';
import { type Command, type JobRecord } from './record.js';
import { StoreView } from './view.js';

const HOLDER = 'a.1@10000#1';
const command: Command = { id: 'c1', action: 'trigger', until: 2_000 };
const another: Command = { ...command, id: 'c2' };
const run = { startedAt: 40, by: 'c1' };

function viewAt(storeTime: number): StoreView {
  const clock = new ManualClock();
  const view = new StoreView('a', clock);
  const incarnation = { id: 'memory/0', since: 0, isFirst: true };
  view.observe({ time: storeTime, incarnation, leases: new Map(), records: [] }, instant(clock));
  return view;
}

describe('a command whose answer is written', () => {
  it.each<[string, JobRecord, number?]>([
    ['waits while the record does not show the answer', { command }],
    [
      'waits while the record names another holder',
      { command: { ...command, outcome: 'started' }, holder: 'b.1@10000#1' },
    ],
    ['runs when the record shows the answer', { command: { ...command, outcome: 'started' } }],
    ['runs when the record shows the run, and the next command', { command: another, run }],
    ['is cancelled when the next command is there without the run', { command: another }],
    ['is cancelled when the record shows that the leader releases', { command: { ...command, outcome: 'releasing' } }],
    ['is cancelled when the answer can arrive no more', { command }, 2_000],
  ])('%s', (rule, value, storeTime = 1_000) => {
    let fate = 'waits';
    const act = (): void => void (fate = 'runs');
    const cancel = (): void => void (fate = 'is cancelled');
    const orders = new Orders(HOLDER, undefined);
    orders.open(command, { outcome: 'started', fields: { run }, act, cancel });
    orders.onRecord({ holder: HOLDER, ...value })?.act?.();
    orders.next(value.command, viewAt(storeTime));
    expect(rule.startsWith(fate)).toBe(true);
    // an old snapshot may show it again
    if (fate !== 'waits') expect(orders.next(command, viewAt(0))).toBeUndefined();
  });
});

it('A term remembers no more than the last hundred commands', () => {
  const orders = new Orders(HOLDER, another);
  for (let count = 0; count < 200; count += 1) {
    orders.open({ ...command, id: String(count) });
    orders.next(undefined, viewAt(0));
  }
  expect(orders.ignored).toEqual(Array.from({ length: 100 }, (_, index) => String(index + 100)));
});

describe('a command', () => {
  const answered = { ...command, outcome: 'stepped-down' };

  it.each<[string, boolean, Command | undefined, number]>([
    ['is obeyed', true, command, 1_999],
    ['is not obeyed if there is none', false, undefined, 0],
    ['is not obeyed if it is answered', false, answered, 0],
    ['is not obeyed when its time is over', false, command, 2_000],
    ['is not obeyed if it ends later than its caller waits', false, command, -1],
    ['is not obeyed if it was there when the term began', false, another, 0],
  ])('%s', (_rule, isObeyed, seen, storeNow) => {
    expect(new Orders(HOLDER, another).next(seen, viewAt(storeNow))).toBe(isObeyed ? seen : undefined);
  });
});
