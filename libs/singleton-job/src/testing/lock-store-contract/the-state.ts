import { deepEqual, equal } from 'node:assert/strict';
import { above, answers, atLeast, atMost, sameAnswer } from './answers.js';
import { bidOf, granted, LONG_MS, refused } from './asking.js';
import { type Rules } from './scene.js';

export const THE_STATE: Rules = {
  'begins now: a new job has no past': async ({ store }) => {
    const grant = await granted(store, bidOf('a#1'));
    const { time } = grant;
    const nothing = { by: '', endAgeMs: undefined, raisedFrom: undefined };
    answers(grant, { last: time, ran: time, born: time, ...nothing });
  },

  'that takes the place of a lost one tells every leader what is not accounted for, until one has settled it': async ({
    world,
    store,
    other,
    release,
  }) => {
    const { last, token, time } = await granted(store, bidOf('a#1'));
    await world.passTime(5);
    await world.loseData();
    const seen = { seenLast: last, seenRan: last - 1_000, seenToken: token };
    const first = await granted(store, bidOf('a#2', seen));
    answers(first, { ran: last - 1_000, by: '', raisedFrom: undefined });
    above(first.last, time);
    sameAnswer(await granted(store, bidOf('a#2', seen)), first);
    await release('a#2');
    answers(await granted(other, bidOf('b#1')), { ran: last - 1_000, last: first.last, by: '' });
    await other.release({ name: 'price-tick', holder: 'b#1', progress: { ran: first.last }, quietly: true });
    answers(await granted(other, bidOf('b#2')), { ran: first.last, last: first.last });
  },

  'has nothing to account for where the bidder has seen a foreign holder and no state': async ({ store }) => {
    const grant = await granted(store, bidOf('a#1', { seenLast: 1_000 }));
    answers(grant, { last: grant.time, ran: grant.time });
  },

  'survives from leader to leader': async ({ store, other, claim, release }) => {
    const { token, time, ran, born } = await granted(store, bidOf('a#1'));
    await claim('a#1', { token, scheduledAt: time + 1_000 });
    await release('a#1', { endAgeMs: 5_000 });
    const second = await granted(other, bidOf('b#1'));
    answers(second, { last: time + 1_000, ran, by: `a#1 ${String(token)}`, born, raisedFrom: undefined });
    atLeast(second.endAgeMs, 5_000);
    atMost(second.endAgeMs, 60_000);
  },

  'is raised to what the bidder has seen, as settled by nobody in particular': async ({
    store,
    other,
    claim,
    release,
  }) => {
    const { token, time } = await granted(store, bidOf('a#1'));
    await claim('a#1', { token, scheduledAt: time + 1_000 });
    await release('a#1');
    const seenLast = time + 2_000;
    answers(await granted(other, bidOf('b#1', { seenLast })), { last: seenLast, ran: seenLast, by: '' });
  },

  'is not lowered to what the bidder has seen': async ({ store, other, release }) => {
    const { last } = await granted(store, bidOf('a#1'));
    await release('a#1');
    answers(await granted(other, bidOf('b#1', { seenLast: last - 5_000 })), { last });
  },

  'is raised to what a bidder has seen also if it is refused: a claim that was lost stands while somebody knows of it':
    async ({ store, other, claim, release }) => {
      const { token, time, ran } = await granted(store, bidOf('a#1'));
      await claim('a#1', { token, scheduledAt: time + 10 });
      answers(await refused(other, bidOf('b#1', { seenLast: time + 5, seenRan: time + 5 })), { last: time + 10, ran });
      answers(await claim('a#1', { token, scheduledAt: time + 10 }), { outcome: 'mine' });
      answers(await refused(other, bidOf('b#2', { seenLast: time + 30 })), { last: time + 30, ran });
      answers(await refused(other, bidOf('b#3')), { last: time + 30, ran });
      answers(await claim('a#1', { token, scheduledAt: time + 30 }), { outcome: 'taken', last: time + 30 });
      const seen = { seenLast: time + 40, seenRan: time + 20 };
      answers(await refused(other, bidOf('b#4', seen)), { last: time + 40, ran: time + 20 });
      await release('a#1');
      const second = await granted(other, bidOf('b#5'));
      answers(second, { last: time + 40, ran: time + 20, by: '', raisedFrom: undefined });
    },

  'is not begun, nor raised, by a bid that a foreign holder refuses': async ({ world, store, other, release }) => {
    await world.occupy('price-tick', 'somebody-else');
    const seen = { seenLast: 5_000_000_000_000, seenRan: 5_000_000_000_000 };
    answers(await refused(store, bidOf('a#1', seen)), { last: 0, ran: 0, born: 0 });
    await world.loseData();
    const { last, ran } = await granted(store, bidOf('a#2'));
    await release('a#2');
    await world.occupy('price-tick', 'somebody-else');
    answers(await refused(other, bidOf('b#1', seen)), { last, ran });
  },

  'takes what is settled for claimed, by nobody in particular': async ({ store, other, renew, claim, release }) => {
    const { time, token } = await granted(store, bidOf('a#1'));
    await claim('a#1', { token, scheduledAt: time + 10 });
    await renew('a#1', { ran: time + 10 });
    await release('a#1');
    answers(await granted(other, bidOf('b#1')), { last: time + 10, ran: time + 10, by: `a#1 ${String(token)}` });
    await other.renew({ name: 'price-tick', holder: 'b#1', lockExpiryMs: LONG_MS, progress: { ran: time + 20 } });
    await other.release({ name: 'price-tick', holder: 'b#1', progress: {}, quietly: true });
    answers(await granted(store, bidOf('a#2')), { last: time + 20, ran: time + 20, by: '' });
  },

  'takes the progress of renewal, claim and release, and is never lowered by it': async ({
    store,
    other,
    renew,
    claim,
    release,
  }) => {
    const { time, token } = await granted(store, bidOf('a#1'));
    await renew('a#1', { ran: time + 20, endAgeMs: 1_000 });
    await renew('a#1', { ran: time + 10, endAgeMs: 9_000_000 });
    await claim('a#1', { token, scheduledAt: time - 1, progress: { ran: time + 30 } });
    await claim('a#1', { token, scheduledAt: time - 1, progress: { ran: time + 5 } });
    await release('a#1', { last: time + 40 });
    const second = await granted(other, bidOf('a#2'));
    answers(second, { last: time + 40, ran: time + 30 });
    atMost(second.endAgeMs, 600_000);
    await release('a#2', { last: time + 39, ran: time });
    answers(await granted(other, bidOf('a#3')), { last: time + 40, ran: time + 30 });
  },
};

export const THE_STATE_UNDER_ANOTHER_SCHEDULE: Rules = {
  'forgets the end of the last run and moves on to now, and tells what was': async ({
    world,
    store,
    other,
    renew,
    release,
  }) => {
    const { last, ran, born } = await granted(store, bidOf('a#1'));
    await renew('a#1', { endAgeMs: 10 });
    await release('a#1');
    await world.passTime(5);
    const second = await granted(other, bidOf('b#1', { schedule: 'every minute' }));
    above(second.last, last);
    const { time } = second;
    const raisedFrom = { last, ran, by: '', schedule: 'every second', hasChanged: true };
    answers(second, { last: time, ran: time, endAgeMs: undefined, born, raisedFrom });
  },

  'tells of the change again until a leader has accounted for it, also if the schedule changes back': async ({
    world,
    store,
    other,
    release,
  }) => {
    const { last, ran } = await granted(store, bidOf('a#1'));
    await release('a#1');
    await world.passTime(5);
    const second = await granted(other, bidOf('b#1', { schedule: 'every minute' }));
    await world.passTime(5);
    const again = await granted(other, bidOf('b#1', { schedule: 'every minute' }));
    sameAnswer(again, second);
    const raisedFrom = { last, ran, by: '', schedule: 'every second', hasChanged: true };
    deepEqual(again.raisedFrom, raisedFrom);
    answers(await refused(store, bidOf('a#2')), { last: second.last, ran });
    await other.release({ name: 'price-tick', holder: 'b#1', progress: { ran: last - 5 }, quietly: true });
    const third = await granted(store, bidOf('a#2'));
    answers(third, { raisedFrom });
    await release('a#2', { ran: third.last });
    answers(await granted(store, bidOf('a#3')), { raisedFrom: undefined });
  },

  'that is lost counts as having had the schedule that the bidder has seen, and has changed': async ({
    world,
    store,
    other,
    release,
  }) => {
    const { last, token } = await granted(store, bidOf('a#1'));
    const { schedule } = await refused(other, bidOf('b#1'));
    equal(schedule, 'every second');
    await world.loseData();
    const seen = { seenLast: last, seenRan: last - 1_000, seenToken: token, seenSchedule: schedule };
    const first = await granted(other, bidOf('b#2', { ...seen, schedule: 'every minute' }));
    const raisedFrom = { last: last - 1_000, ran: last - 1_000, by: '', schedule, hasChanged: true };
    answers(first, { last: first.time, ran: first.time, by: '', raisedFrom });
    await other.release({ name: 'price-tick', holder: 'b#2', progress: {}, quietly: true });
    const second = await granted(store, bidOf('a#2', { schedule: 'every minute' }));
    answers(second, { last: first.last, ran: first.last, raisedFrom });
    await release('a#2', { ran: second.last });
    await world.loseData();
    const same = { ...seen, seenSchedule: 'every minute', schedule: 'every minute' };
    answers(await granted(store, bidOf('a#3', same)), { ran: last - 1_000, raisedFrom: undefined });
  },

  'keeps a claim ahead of now, as settled': async ({ store, other, claim, release }) => {
    const { token, time, ran } = await granted(store, bidOf('a#1'));
    const ahead = time + 50_000;
    await claim('a#1', { token, scheduledAt: ahead });
    await release('a#1');
    const raisedFrom = { last: ahead, ran, by: `a#1 ${String(token)}`, schedule: 'every second', hasChanged: true };
    const second = await granted(other, bidOf('b#1', { schedule: 'every minute' }));
    answers(second, { last: ahead, ran: ahead, raisedFrom });
  },
};
