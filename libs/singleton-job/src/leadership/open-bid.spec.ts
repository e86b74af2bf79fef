import { describe, expect, it } from '@jest/globals';
import { type Grant } from '../store/index.js';
import { ManualClock } from '../testing/index.js';
import { instant } from '../time/index.js';
import { OpenBid } from './open-bid.js';

const GRANT: Grant = {
  granted: true,
  token: 1,
  last: 0,
  ran: 0,
  by: '',
  endAgeMs: undefined,
  born: 0,
  time: 0,
  raisedFrom: undefined,
};

function setup() {
  const clock = new ManualClock();
  const stop = new AbortController();
  const bid = new OpenBid(clock, 10_000, stop.signal);
  return { clock, stop, bid };
}

describe('A bid', () => {
  it('has nothing more to ask once it was granted, in time or not', async () => {
    const { clock, bid } = setup();
    const answered = { answer: GRANT, sent: instant(clock) };
    await clock.advance(8_999);
    bid.answered(answered);
    expect(bid.done.aborted).toBe(true);
    expect(bid.takeLateGrant()).toBe(answered);
  });

  it('is open again when its grant came too late to leave a lease', async () => {
    const { clock, bid } = setup();
    bid.answered({ answer: GRANT, sent: instant(clock) });
    await clock.advance(9_000);
    expect(bid.takeLateGrant()).toBeUndefined();
    expect(bid.done.aborted).toBe(false);
  });

  it('has nothing more to ask once it was stopped', () => {
    const { bid, stop } = setup();
    stop.abort();
    expect(bid.done.aborted).toBe(true);
    expect(bid.takeLateGrant()).toBeUndefined();
  });
});
