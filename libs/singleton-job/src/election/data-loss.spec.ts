import { describe, expect, it } from '@jest/globals';
import { type Grant } from '../lock/index.js';
import { type DataLoss, waitAfterDataLossMs } from './data-loss.js';

const LOCK_EXPIRY_MS = 10_000;
const loss: DataLoss = { bornBefore: 1_000, born: 50_000 };

function grantOf(born: number, time: number): Grant {
  const nothing = { by: '', endAgeMs: undefined, raisedFrom: undefined };
  return { granted: true, token: time, last: born, ran: born, born, time, ...nothing };
}

type Facts = Parameters<typeof waitAfterDataLossMs>[0];

/** The first leader after a loss of data, which another had led before, unless told otherwise. */
function waitMs(facts: Partial<Facts> = {}): number {
  return waitAfterDataLossMs({
    grant: grantOf(50_000, 50_000),
    sent: { now: 0, wall: 0 },
    memory: { loss, longestTtlMs: 0 },
    lockExpiryMs: LOCK_EXPIRY_MS,
    previous: undefined,
    ...facts,
  });
}

/** The term before, which lost its lock to the loss of data while it still covered the winning bid, unless told otherwise. */
function before(facts: Partial<NonNullable<Facts['previous']>> = {}): NonNullable<Facts['previous']> {
  return { end: 'preempted', grant: grantOf(1_000, 2_000), covers: () => true, waitMs: 0, ...facts };
}

describe('After Redis lost its data a new leader', () => {
  it('waits as long as a lock lives, less the age of the new state', () => {
    expect(waitMs()).toBe(LOCK_EXPIRY_MS);
    expect(waitMs({ grant: grantOf(50_000, 54_000) })).toBe(6_000);
    expect(waitMs({ grant: grantOf(50_000, 90_000) })).toBe(0);
    expect(waitMs({ grant: grantOf(50_000, 20_000) })).toBe(LOCK_EXPIRY_MS);
  });

  it('waits as long as the longest lock that it has seen', () => {
    expect(waitMs({ memory: { loss, longestTtlMs: 30_000 } })).toBe(30_000);
    expect(waitMs({ memory: { loss, longestTtlMs: 3_000 } })).toBe(LOCK_EXPIRY_MS);
  });

  it('does not wait where nothing was lost, or it knew nothing of it', () => {
    expect(waitMs({ memory: { loss: undefined, longestTtlMs: 0 } })).toBe(0);
    expect(waitMs({ grant: grantOf(70_000, 70_000) })).toBe(0);
  });

  it('does not wait for itself: its own lease still excluded all others', () => {
    expect(waitMs({ previous: before() })).toBe(0);
  });

  it('waits for what its own lease was still waiting for when Redis lost its data once more', () => {
    expect(waitMs({ previous: before({ waitMs: 700 }) })).toBe(700);
  });

  it.each([
    ['had passed its deadline', before({ covers: () => false })],
    ['had been given back, so that another may have led', before({ end: 'released' })],
    ['was from before a still earlier loss', before({ grant: grantOf(500, 600) })],
  ])('waits if its own lease %s', (_, previous) => {
    expect(waitMs({ previous })).toBe(LOCK_EXPIRY_MS);
  });
});
