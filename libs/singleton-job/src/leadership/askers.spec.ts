import { describe, expect, it } from '@jest/globals';
import { Askers } from './askers.js';

describe('Who asks about a name', () => {
  it('is counted: it is left once by all of them together, however often each says that it leaves', () => {
    const left: string[] = [];
    const askers = new Askers((name) => left.push(name));
    const [holder, bidder, other] = [askers.enter('a'), askers.enter('a'), askers.enter('b')];
    bidder();
    bidder();
    expect(left).toEqual([]);
    other();
    holder();
    holder();
    expect(left).toEqual(['b', 'a']);
  });
});
