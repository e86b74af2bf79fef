import { describe, expect, it } from '@jest/globals';
import { type Grant } from '../store/index.js';
import { type Aftermath, aftermathOf, type DataLoss } from './data-loss.js';

const LOCK_EXPIRY_MS = 10_000;
const NO_AFTERMATH: Aftermath = { waitMs: 0, doubtfulUpTo: 0 };
const loss: DataLoss = { bornBefore: 1_000, born: 50_000, longestTtlMs: 0, heardAtMs: 0 };

function grantOf(born: number, time: number): Grant {
  const nothing = { by: '', endAgeMs: undefined, raisedFrom: undefined };
  return { granted: true, token: time, last: born, ran: born, born, time, ...nothing };
}

type Facts = Parameters<typeof aftermathOf>[0];

/** The first leader after a loss of data, which another had led before, unless told otherwise. */
function aftermath(facts: Partial<Facts> = {}): Aftermath {
  return aftermathOf({
    grant: grantOf(50_000, 50_000),
    sent: { now: 0, wall: 0 },
    memory: { loss },
    lockExpiryMs: LOCK_EXPIRY_MS,
    previous: undefined,
    ...facts,
  });
}

const waitMs = (facts?: Partial<Facts>): number => aftermath(facts).waitMs;

/** The term before, which lost its lock to the loss of data while it still covered the winning bid, unless told otherwise. */
function before(facts: Partial<NonNullable<Facts['previous']>> = {}): NonNullable<Facts['previous']> {
  return {
    end: 'preempted',
    grant: grantOf(1_000, 2_000),
    covers: () => true,
    waitMs: 0,
    facts: NO_AFTERMATH,
    ...facts,
  };
}

describe('After Redis lost its data a new leader', () => {
  it('waits as long as a lock lives, less the age of the new state', () => {
    expect(waitMs()).toBe(LOCK_EXPIRY_MS);
    expect(waitMs({ grant: grantOf(50_000, 54_000) })).toBe(6_000);
    expect(waitMs({ grant: grantOf(50_000, 90_000) })).toBe(0);
    expect(waitMs({ grant: grantOf(50_000, 20_000) })).toBe(LOCK_EXPIRY_MS);
  });

  it('waits as long as the longest lock that it has seen', () => {
    expect(waitMs({ memory: { loss: { ...loss, longestTtlMs: 30_000 } } })).toBe(30_000);
    expect(waitMs({ memory: { loss: { ...loss, longestTtlMs: 3_000 } } })).toBe(LOCK_EXPIRY_MS);
  });

  it('counts the time for which it has known of the loss, also if the clock of Redis was stepped back behind it', () => {
    const grant = grantOf(50_000, 20_000);
    expect(aftermath({ grant, sent: { now: 4_000, wall: 0 } })).toEqual({ waitMs: 6_000, doubtfulUpTo: 26_000 });
    expect(aftermath({ grant, sent: { now: 90_000, wall: 0 } }).waitMs).toBe(0);
    // heard of with the grant itself
    expect(aftermath({ grant, sent: { now: -5, wall: 0 } }).waitMs).toBe(LOCK_EXPIRY_MS);
  });

  it('does not ask an older state that was brought back how old it is, but counts from when it heard of that', () => {
    const restored = { memory: { loss: { ...loss, bornBefore: 50_000, born: 1_000 } }, grant: grantOf(1_000, 60_000) };
    expect(aftermath(restored)).toEqual({ waitMs: LOCK_EXPIRY_MS, doubtfulUpTo: 70_000 });
    expect(aftermath({ ...restored, sent: { now: 4_000, wall: 0 } })).toEqual({ waitMs: 6_000, doubtfulUpTo: 66_000 });
    expect(aftermath({ ...restored, sent: { now: 90_000, wall: 0 } }).waitMs).toBe(0);
  });

  it('takes what was due while a lock lives for started, however late it begins itself', () => {
    expect(aftermath().doubtfulUpTo).toBe(50_000 + LOCK_EXPIRY_MS);
    expect(aftermath({ grant: grantOf(50_000, 90_000) }).doubtfulUpTo).toBe(50_000 + LOCK_EXPIRY_MS);
    expect(aftermath({ memory: { loss: { ...loss, longestTtlMs: 30_000 } } }).doubtfulUpTo).toBe(80_000);
    expect(aftermath({ grant: grantOf(50_000, 20_000) }).doubtfulUpTo).toBe(20_000 + LOCK_EXPIRY_MS);
  });

  it('does not wait where nothing was lost, or it knew nothing of it', () => {
    expect(aftermath({ memory: { loss: undefined } })).toEqual(NO_AFTERMATH);
    expect(aftermath({ grant: grantOf(70_000, 70_000) })).toEqual(NO_AFTERMATH);
  });

  it('does not wait for itself: its own lease still excluded all others', () => {
    expect(aftermath({ previous: before() })).toEqual(NO_AFTERMATH);
  });

  it('waits for what its own lease was still waiting for when Redis lost its data once more', () => {
    const previous = before({ waitMs: 700, facts: { waitMs: 9_000, doubtfulUpTo: 51_000 } });
    expect(aftermath({ previous })).toEqual({ waitMs: 700, doubtfulUpTo: 51_000 });
  });

  it.each([
    ['had passed its deadline', before({ covers: () => false })],
    ['had been given back, so that another may have led', before({ end: 'released' })],
    ['was from before a still earlier loss', before({ grant: grantOf(500, 600) })],
  ])('waits if its own lease %s', (_, previous) => {
    expect(waitMs({ previous })).toBe(LOCK_EXPIRY_MS);
  });
});
