import { describe, expect, it } from '@jest/globals';
import { Writer } from './writes.js';

describe('a write without an answer', () => {
  it('may change the record until that was read after its `until`', () => {
    const writer = new Writer();
    writer.begin(0);
    writer.answered({ revision: undefined, failure: new Error('lost'), order: 1 }, 7, 2_000);
    const isDoubtfulAfter = (order: number, storeTime: number) => {
      writer.seen(7, order, storeTime);
      return writer.isDoubtful;
    };
    expect([isDoubtfulAfter(0, 2_000), isDoubtfulAfter(2, 1_999), isDoubtfulAfter(3, 2_000)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
