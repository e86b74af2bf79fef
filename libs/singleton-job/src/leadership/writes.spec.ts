import { describe, expect, it } from '@jest/globals';
import { Writer } from './writes.js';

describe('a write without an answer', () => {
  it('may change the record until that was read after its `until`', () => {
    const writer = new Writer();
    writer.begin(0);
    writer.answered({ revision: undefined, failure: new Error('lost'), sequence: 1 }, 7, 2_000);
    const isDoubtfulAfter = (storeTime: number) => {
      writer.observe(7, storeTime);
      return writer.hasUnconfirmedWrite;
    };
    expect([1_999, 2_000].map(isDoubtfulAfter)).toEqual([true, false]);
  });
});

describe('writes that are refused in a row', () => {
  it('do not delay the next one in another incarnation', () => {
    const writer = new Writer();
    writer.begin(0);
    for (const sequence of [1, 2, 3]) writer.answered({ revision: undefined, failure: undefined, sequence }, 7, 2_000);
    expect(writer.nextAt).toBe(500);
    writer.incarnationChanged();
    expect(writer.nextAt).toBe(-Infinity);
  });
});
