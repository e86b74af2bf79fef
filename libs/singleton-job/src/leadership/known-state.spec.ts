import { describe, expect, it } from '@jest/globals';
import { type Grant, type Refusal } from '../store/index.js';
import { KnownState } from './known-state.js';

const NOTHING = {
  newestClaimed: undefined,
  claimedBy: undefined,
  newestSettled: undefined,
  lastRunEndedAt: undefined,
  schedule: undefined,
  pausedAt: undefined,
};

const refusal = (overrides: Partial<Refusal> = {}): Refusal => ({
  granted: false,
  reason: 'held',
  holder: 'b.1@10000#1',
  ttlMs: 35_000,
  token: 0,
  stateCreatedAt: undefined,
  storeTime: 100_000,
  ttlRestored: false,
  ...NOTHING,
  ...overrides,
});

const grant = (overrides: Partial<Grant> = {}): Grant => ({
  granted: true,
  token: 7,
  stateCreatedAt: 1_000,
  storeTime: 100_000,
  ...NOTHING,
  ...overrides,
});

describe('What a process knows about a job', () => {
  it('is nothing at its first start', () => {
    const known = new KnownState();
    expect([known.isNew, known.token, known.newestClaimed, known.stateCreatedAt]).toEqual([true, 0, 0, undefined]);
  });

  it.each([
    [
      'a holder',
      (known: KnownState) => {
        known.refused(refusal());
      },
    ],
    [
      'a state',
      (known: KnownState) => {
        known.refused(refusal({ holder: undefined, stateCreatedAt: 1_000 }));
      },
    ],
    ['a grant', (known: KnownState) => known.granted(5)],
    ['a release', (known: KnownState) => known.released(5)],
    ['a term of its own', (known: KnownState) => known.won(grant(), 'cron:1')],
  ])('is no first start after it has seen %s', (_what, see) => {
    const known = new KnownState();
    see(known);
    expect(known.isNew).toBe(false);
  });

  it('is still a first start after a refusal that showed neither holder nor state', () => {
    const known = new KnownState();
    known.refused(refusal({ holder: undefined, reason: 'outdated' }));
    expect(known.isNew).toBe(true);
  });

  it('keeps the largest token and the newest occurrence of all answers', () => {
    const known = new KnownState();
    known.refused(refusal({ token: 7, newestClaimed: 500 }));
    known.refused(refusal({ token: 5, newestClaimed: 400 }));
    expect([known.token, known.newestClaimed]).toEqual([7, 500]);
  });

  it('is never lowered', () => {
    const known = new KnownState();
    known.settled(2_000);
    known.settled(1_000);
    known.runEnded(900);
    known.runEnded(800);
    expect(known.progress).toEqual({ newestSettled: 2_000, lastRunEndedAt: 900 });
  });

  it('ignores a grant that is older than the newest release', () => {
    const known = new KnownState();
    expect(known.granted(5)).toBe(true);
    expect(known.released(6)).toBe(true);
    expect(known.granted(5)).toBe(false);
    expect(known.granted(6)).toBe(false);
    expect(known.granted(7)).toBe(true);
  });

  it('ignores a release that is older than the newest grant', () => {
    const known = new KnownState();
    known.granted(7);
    expect(known.released(6)).toBe(false);
    expect(known.released(7)).toBe(true);
  });

  const paused = (): KnownState => {
    const known = new KnownState();
    known.refused(refusal({ reason: 'paused', stateCreatedAt: 1_000, pausedAt: 5_000 }));
    return known;
  };

  it.each([
    ['lost, if the state is lost', 2_000, undefined, 5_000],
    ['not lost, if the state is the same', 1_000, undefined, undefined],
    ['not lost, if the job is paused again', undefined, 9_000, undefined],
  ])('is a pause that is %s', (_what, stateCreatedAt, pausedAt, lostPausedAt) => {
    for (const tokens of [[], [7, 8]]) {
      const known = paused();
      for (const token of tokens) known.granted(token);
      known.refused(refusal({ stateCreatedAt, pausedAt }));
      expect(known).toMatchObject({ pausedAt, lostPausedAt });
    }
  });

  it('is no lost pause if the pause ended before the state was lost', () => {
    const known = paused();
    known.granted(7);
    known.refused(refusal({ stateCreatedAt: 1_000 }));
    known.refused(refusal({ stateCreatedAt: 2_000 }));
    expect(known.lostPausedAt).toBeUndefined();
  });

  it('accepts the release of a request that may never have been granted', () => {
    const known = new KnownState();
    known.granted(7);
    expect(known.released(0)).toBe(true);
    expect(known.granted(8)).toBe(true);
  });
});

describe('What a new leader finds', () => {
  it('is nothing for a new job', () => {
    expect(new KnownState().won(grant(), 'cron:1')).toEqual({
      newestClaimed: 100_000,
      unconfirmed: undefined,
      replaced: undefined,
      lost: undefined,
      lastRunEndedAt: undefined,
    });
  });

  it('is what the last leader claimed and did not settle', () => {
    const state = { newestClaimed: 90_000, claimedBy: 'b.1@10000#1 6', newestSettled: 80_000, schedule: 'cron:1' };
    expect(new KnownState().won(grant(state), 'cron:1')).toMatchObject({
      newestClaimed: 90_000,
      unconfirmed: { settled: 80_000, claimed: 90_000, claimedBy: 'b.1@10000#1 6' },
      lost: undefined,
    });
  });

  it('is settled from then on', () => {
    const known = new KnownState();
    known.won(grant({ newestClaimed: 90_000, newestSettled: 80_000, schedule: 'cron:1' }), 'cron:1');
    expect(known.progress.newestSettled).toBe(90_000);
  });

  it('is lost if the store has no state and this process knew one', () => {
    const known = new KnownState();
    known.refused(refusal({ stateCreatedAt: 1_000, newestClaimed: 90_000, newestSettled: 80_000 }));
    expect(known.won(grant(), 'cron:1')).toMatchObject({ newestClaimed: 100_000, lost: { after: 80_000 } });
  });

  it('begins again with a new schedule, and reports what the old one left', () => {
    const state = { newestClaimed: 90_000, newestSettled: 90_000, lastRunEndedAt: 95_000, schedule: 'cron:1' };
    expect(new KnownState().won(grant(state), 'cron:2')).toMatchObject({
      newestClaimed: 100_000,
      replaced: { after: 90_000 },
      lastRunEndedAt: undefined,
    });
  });

  it('is not hidden by a slot that a fast clock left far ahead', () => {
    const state = { newestClaimed: 500_000, newestSettled: 500_000, schedule: 'fixed-rate:1' };
    expect(new KnownState().won(grant(state), 'cron:1')).toMatchObject({ newestClaimed: 100_000, replaced: undefined });
  });

  it('has the later of the run ends that the store and this process know', () => {
    const known = new KnownState();
    known.runEnded(99_000);
    const state = { newestClaimed: 1, lastRunEndedAt: 95_000, schedule: 'interval:1' };
    expect(known.won(grant(state), 'interval:1').lastRunEndedAt).toBe(99_000);
  });
});
