import { expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { RecordEdits } from './record-edits.js';
import { type ObservedRecord } from './record.js';
import { StoreView } from './store-view.js';

it.each<[string, boolean, ObservedRecord]>([
  ['shows what it waits for', true, { revision: 1, value: {} }],
  ['cannot be read', false, { revision: 1, value: undefined, isUnreadable: true }],
])('An edit ends when the record %s', async (_which, isDone, record) => {
  const clock = new ManualClock();
  const edits = new RecordEdits({ clock, storeView: new StoreView('a', clock) });
  const shown = edits.add({ isDone: () => true }, 1);
  // an answer to a request of before the edit
  edits.reconcile(record, 0, true);
  expect(edits.areOpen).toBe(true);
  edits.reconcile(record, 1, true);
  expect(edits.areOpen).toBe(false);
  await expect(shown).resolves.toBe(isDone);
});
