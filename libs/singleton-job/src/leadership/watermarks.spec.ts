import { describe, expect, it } from '@jest/globals';
import { type Grant, type Refusal } from '../store/lock-store.js';
import { Watermarks } from './watermarks.js';

const NOTHING = {
  claimed: undefined,
  claimedBy: undefined,
  handled: undefined,
  slot: undefined,
  runStartedAt: undefined,
  runEndedAt: undefined,
  lastRun: undefined,
  schedule: undefined,
  pausedAt: undefined,
};

const refusal = (overrides: Partial<Refusal> = {}): Refusal => ({
  granted: false,
  serverId: undefined,
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
  previousHolder: undefined,
  serverId: undefined,
  token: 7,
  stateCreatedAt: 1_000,
  storeTime: 100_000,
  ...NOTHING,
  ...overrides,
});

describe('What a process knows about a job', () => {
  it('is nothing at its first start', () => {
    const known = new Watermarks();
    expect([known.isNew, known.token, known.claimed, known.stateCreatedAt]).toEqual([true, 0, 0, undefined]);
  });

  it.each([
    [
      'a holder',
      (known: Watermarks) => {
        known.refused(refusal());
      },
    ],
    [
      'a state',
      (known: Watermarks) => {
        known.refused(refusal({ holder: undefined, stateCreatedAt: 1_000 }));
      },
    ],
    ['a grant', (known: Watermarks) => known.grantedToOther(5)],
    ['a release', (known: Watermarks) => known.released(5)],
    ['a term of its own', (known: Watermarks) => known.grantedToUs(grant(), 'cron 1')],
  ])('is no first start after it has seen %s', (_what, see) => {
    const known = new Watermarks();
    see(known);
    expect(known.isNew).toBe(false);
  });

  it('is still a first start after a refusal that showed neither holder nor state', () => {
    const known = new Watermarks();
    known.refused(refusal({ holder: undefined, reason: 'outdated' }));
    expect(known.isNew).toBe(true);
  });

  it('keeps the largest token and the newest occurrence of all answers', () => {
    const known = new Watermarks();
    known.refused(refusal({ token: 7, claimed: 500 }));
    known.refused(refusal({ token: 5, claimed: 400 }));
    expect([known.token, known.claimed]).toEqual([7, 500]);
  });

  it('is never lowered', () => {
    const known = new Watermarks();
    known.raise({ handled: 2_000 });
    known.raise({ handled: 1_000 });
    known.raise({ runEndedAt: 900 });
    known.raise({ runEndedAt: 800 });
    known.recorded();
    expect(known.update('cron 1')).toEqual({ handled: 2_000, runEndedAt: 900 });
  });

  it('ignores a grant that is older than the newest release', () => {
    const known = new Watermarks();
    expect(known.grantedToOther(5)).toBe(true);
    expect(known.released(6)).toBe(true);
    expect(known.grantedToOther(5)).toBe(false);
    expect(known.grantedToOther(6)).toBe(false);
    expect(known.grantedToOther(7)).toBe(true);
  });

  it('ignores a release that is older than the newest grant', () => {
    const known = new Watermarks();
    known.grantedToOther(7);
    expect(known.released(6)).toBe(false);
    expect(known.released(7)).toBe(true);
  });

  const paused = (): Watermarks => {
    const known = new Watermarks();
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
      for (const token of tokens) known.grantedToOther(token);
      known.refused(refusal({ stateCreatedAt, pausedAt }));
      expect(known).toMatchObject({ pausedAt, lostPausedAt });
    }
  });

  it('is no lost pause if the pause ended before the state was lost', () => {
    const known = paused();
    known.grantedToOther(7);
    known.refused(refusal({ stateCreatedAt: 1_000 }));
    known.refused(refusal({ stateCreatedAt: 2_000 }));
    expect(known.lostPausedAt).toBeUndefined();
  });

  it('accepts the release of a request that may never have been granted', () => {
    const known = new Watermarks();
    known.grantedToOther(7);
    expect(known.released(0)).toBe(true);
    expect(known.grantedToOther(8)).toBe(true);
  });
});

describe('What a new leader finds', () => {
  it('is for a new job what came due since the state was created', () => {
    expect(new Watermarks().grantedToUs(grant(), 'cron 1')).toEqual({
      claimed: 1_000,
      unconfirmed: undefined,
      replaced: undefined,
      lost: undefined,
      ran: 1_000,
      slot: 1_000,
      runStartedAt: undefined,
      runEndedAt: undefined,
    });
  });

  it('is what the last leader claimed and did not handle', () => {
    const state = { claimed: 90_000, claimedBy: 'b.1@10000#1 6', handled: 80_000, schedule: 'cron 1' };
    expect(new Watermarks().grantedToUs(grant(state), 'cron 1')).toMatchObject({
      claimed: 90_000,
      unconfirmed: { handled: 80_000, claimed: 90_000, claimedBy: 'b.1@10000#1 6' },
      lost: undefined,
    });
  });

  it('is handled from then on', () => {
    const known = new Watermarks();
    known.grantedToUs(grant({ claimed: 90_000, handled: 80_000, schedule: 'cron 1' }), 'cron 1');
    expect(known.update('cron 1').handled).toBe(90_000);
  });

  it('is lost if the store has no state and this process knew one', () => {
    const known = new Watermarks();
    known.refused(refusal({ stateCreatedAt: 1_000, claimed: 90_000, handled: 80_000 }));
    expect(known.grantedToUs(grant({ stateCreatedAt: 95_000 }), 'cron 1')).toMatchObject({
      claimed: 95_000,
      lost: { after: 80_000 },
    });
  });

  it('begins again with a new schedule, and reports what the old one left', () => {
    const state = { claimed: 90_000, handled: 90_000, runEndedAt: 95_000, schedule: 'cron 1' };
    expect(new Watermarks().grantedToUs(grant(state), 'cron 2')).toMatchObject({
      claimed: 100_000,
      replaced: { after: 90_000 },
      runEndedAt: 95_000,
    });
  });

  it('is not hidden by a slot that a fast clock left far ahead', () => {
    const state = { slot: 500_000, schedule: 'fixed-rate 1' };
    expect(new Watermarks().grantedToUs(grant(state), 'cron 1')).toMatchObject({
      claimed: 100_000,
      replaced: undefined,
    });
  });

  it('has no occurrence from before a job became a cron job', () => {
    const state = { slot: 90_000, schedule: 'fixed-rate 1' };
    expect(new Watermarks().grantedToUs(grant(state), 'cron 1').claimed).toBe(100_000);
  });

  it('keeps a claim ahead of the clock of the store while the kind of the job changes back and forth', () => {
    const known = new Watermarks();
    known.grantedToUs(grant({ schedule: 'cron 1' }), 'cron 1');
    known.raise({ claimed: 130_000 });
    const state = { claimed: 130_000, handled: 130_000, schedule: 'fixed-rate 1' };
    expect(known.grantedToUs(grant(state), 'cron 1').claimed).toBe(130_000);
  });

  it('has the later of the run ends that the store and this process know', () => {
    const known = new Watermarks();
    known.raise({ runEndedAt: 99_000 });
    const state = { claimed: 1, runEndedAt: 95_000, schedule: 'interval 1' };
    expect(known.grantedToUs(grant(state), 'interval 1').runEndedAt).toBe(99_000);
  });
});
