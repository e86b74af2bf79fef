import { describe, expect, it } from '@jest/globals';
import { Writer } from './writes.js';

describe('a write without an answer', () => {
  it('may change the record until that was read after its `until`', () => {
    const writer = new Writer();
    writer.begin(0);
    writer.answered({ revision: undefined, failure: new Error('lost'), order: 1 }, 7, 2_000);
    const isDoubtfulAfter = (storeTime: number) => {
      writer.seen(7, storeTime);
      return writer.isDoubtful;
    };
    expect([1_999, 2_000].map(isDoubtfulAfter)).toEqual([true, false]);
  });
});
