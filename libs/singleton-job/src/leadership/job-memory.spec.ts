import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { type Refusal } from '../store/index.js';
import { JobMemory } from './job-memory.js';

function setup() {
  const clock = new ManualClock();
  return { clock, log: new JobMemory(clock) };
}

const NOTHING = { token: 0, last: 0, born: 0, time: 0, ran: 0 };

const refusal = (overrides: Partial<Refusal>): Refusal => ({
  granted: false,
  holder: 'other#1',
  ttlMs: 0,
  ...NOTHING,
  mended: false,
  schedule: '',
  ...overrides,
});

describe('What a process knows of a job', () => {
  it('is nothing while nothing has happened', () => {
    const { log } = setup();
    expect(log.unconfirmed().progress).toEqual({});
    expect(log.final()).toEqual({});
  });

  it('is told until it is confirmed', () => {
    const { log } = setup();
    log.settled(1_000);
    expect(log.unconfirmed().progress).toEqual({ ran: 1_000 });
    log.unconfirmed().confirm();
    expect(log.unconfirmed().progress).toEqual({});
  });

  it('tells the end of a run as an age, which grows while it is not confirmed', async () => {
    const { clock, log } = setup();
    log.ended();
    await clock.advance(250);
    expect(log.unconfirmed().progress).toEqual({ endAgeMs: 250 });
  });

  it('does not take what happened after a request was sent for confirmed by its answer', () => {
    const { log } = setup();
    log.settled(1_000);
    const { confirm } = log.unconfirmed();
    log.settled(2_000);
    confirm();
    expect(log.unconfirmed().progress).toEqual({ ran: 2_000 });
  });

  it('is never lowered', () => {
    const { log } = setup();
    log.settled(2_000);
    log.settled(1_000);
    expect(log.unconfirmed().progress).toEqual({ ran: 2_000 });
  });

  it('tells the newest slot with the release only', () => {
    const { log } = setup();
    log.fired(500);
    log.fired(1_000);
    expect(log.unconfirmed().progress).toEqual({});
    expect(log.final()).toEqual({ last: 1_000, ran: 1_000 });
    expect(log.last).toBe(1_000);
  });

  it('tells nothing with the release of a lock whose state the store forgets', () => {
    const log = new JobMemory(new ManualClock(), 86_400_000);
    log.claimed(1_000);
    expect(log.final()).toEqual({});
  });

  it('is told again in a new term, for the store may be another than the one that confirmed', () => {
    const { log } = setup();
    log.settled(1_000);
    log.unconfirmed().confirm();
    log.learn({
      granted: true,
      token: 1,
      last: 0,
      ran: 0,
      by: '',
      endAgeMs: undefined,
      born: 0,
      time: 0,
      raisedFrom: undefined,
    });
    expect(log.unconfirmed().progress).toEqual({ ran: 1_000 });
  });

  it('keeps the largest token and the newest occurrence that any answer carried', () => {
    const { log } = setup();
    log.learn(refusal({ token: 7, last: 500 }));
    log.learn(refusal({ token: 5, last: 400 }));
    expect(log.seen()).toMatchObject({ seenToken: 7, seenLast: 500 });
  });

  it('counts occurrences up to the last sight of a foreign holder as its own', () => {
    const { log } = setup();
    log.learn(refusal({ holder: 'original', time: 9_000 }));
    expect([log.last, log.seenRan]).toEqual([9_000, 0]);
    log.learn(refusal({ ran: 500, time: 9_500 }));
    log.learn(refusal({ holder: 'original', time: 10_000 }));
    expect([log.last, log.seenRan]).toEqual([10_000, 10_000]);
  });

  it('tells of a loss of data how long locks lived until then, whatever is seen later', () => {
    const { log } = setup();
    log.learn(refusal({ born: 1_000, ttlMs: 8_000 }));
    log.learn(refusal({ born: 50_000, ttlMs: 3_600_000 }));
    log.learn(refusal({ born: 50_000, ttlMs: 3_600_000 }));
    expect(log.loss).toMatchObject({ bornBefore: 1_000, born: 50_000, longestTtlMs: 8_000 });
  });

  it('does not count how long a foreign lock lives, whose holder is no leader of ours', () => {
    const { log } = setup();
    log.learn(refusal({ born: 1_000, ttlMs: 8_000 }));
    log.learn(refusal({ holder: 'maintenance', born: 1_000, ttlMs: 86_400_000 }));
    expect(log.longestTtlMs).toBe(8_000);
  });

  it('tells of a loss of data when it was first heard of, by its own clock', async () => {
    const { clock, log } = setup();
    log.learn(refusal({ born: 1_000 }));
    await clock.advance(700);
    log.learn(refusal({ born: 50_000 }));
    await clock.advance(700);
    log.learn(refusal({ born: 50_000 }));
    expect(log.loss?.heardAtMs).toBe(700);
  });

  it('keeps the schedule that others lead by until it leads itself, whatever holders without a state say', () => {
    const { log } = setup();
    log.learn(refusal({ schedule: 'cron:1' }));
    log.learn(refusal({ holder: 'original' }));
    expect(log.seen().seenSchedule).toBe('cron:1');
    log.learn({ ...NOTHING, granted: true, by: '', endAgeMs: undefined, raisedFrom: undefined });
    expect(log.seen()).not.toHaveProperty('seenSchedule');
  });
});
