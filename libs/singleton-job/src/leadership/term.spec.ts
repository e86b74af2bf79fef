import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { Lease } from './lease.js';
import { ABSENT } from './record.js';
import { StoreView } from './store-view.js';
import { Term } from './term.js';

function setup() {
  const clock = new ManualClock();
  const lease = new Lease('a.1@10000');
  const confirm = (): void => {
    lease.extend({ now: clock.now(), wall: clock.wallNow() });
  };
  confirm();
  const story: string[] = [];
  const heartbeatThread = { takeReports: (): void => undefined };
  const parts = { name: 'job:job', holder: 'a.1@10000#1', fencingToken: 7, fields: {}, lease } as const;
  const storeView = new StoreView('a', clock);
  const context = { clock, storeView, heartbeatThread, syncNow: () => story.push('doubted') };
  const term = new Term(parts as never, context as never, { enqueue: () => story.push('changed') });
  /** What a promise has settled to by now. */
  const soFar = <T>(promise: Promise<T>) => Promise.race([promise, clock.afterIo().then(() => 'pending')]);
  return { clock, lease, confirm, term, story, heartbeatThread, soFar };
}

describe('a lease', () => {
  it('is not trusted before the store has confirmed it', () => {
    expect(new Lease('a.1@10000').isValid(new ManualClock())).toBe(false);
  });

  it('is not shortened by an answer that is late', async () => {
    const { clock, lease, confirm } = setup();
    const early = { now: clock.now(), wall: clock.wallNow() };
    await clock.advance(1_000);
    confirm();
    lease.extend(early);
    expect(lease.deadline?.now).toBe(10_000);
  });
});

describe('a term', () => {
  it('is valid until the deadline of its lease', async () => {
    const { clock, term, confirm } = setup();
    await clock.advance(8_000);
    confirm();
    clock.stepWall(-1_000);
    await clock.advance(8_999);
    expect([term.isValid(), term.deadline.now]).toEqual([true, 17_000]);
    await clock.advance(1);
    expect(term.isValid()).toBe(false);
  });

  it('looks for a later deadline before it says no', async () => {
    const { clock, term, confirm, heartbeatThread } = setup();
    heartbeatThread.takeReports = confirm;
    await clock.block(20_000);
    expect(term.isValid()).toBe(true);
  });

  it('is valid only until its old deadline while its record must be written again, which it wants at once', async () => {
    const { clock, term, confirm } = setup();
    term.incarnationChanged(ABSENT);
    expect(term.saveAt).toBe(-Infinity);
    await clock.advance(5_000);
    confirm();
    await clock.advance(4_000);
    expect(term.isValid()).toBe(false);
  });

  it('is not valid after its end, which happens once, and calls at once what comes after it', () => {
    const { term } = setup();
    const calls: string[] = [];
    term.whenOver(() => calls.push('before'));
    term.finish('preempted');
    term.finish('expired');
    term.whenOver(() => calls.push('after'));
    expect([calls, term.end, term.isValid()]).toEqual([['before', 'after'], 'preempted', false]);
  });

  it('is not valid while the wall clock is past the deadline: a sync leaves at once, and a caller waits', async () => {
    const { clock, term, confirm, story, soFar } = setup();
    clock.stepWall(9_000);
    expect([term.isValid(), term.end, story]).toEqual([false, undefined, ['doubted']]);
    story.pop();
    const valid = term.untilValid().then(() => 'valid');
    term.syncAnswered();
    expect(await soFar(valid)).toBe('pending');
    confirm();
    term.syncAnswered();
    await expect(valid).resolves.toBe('valid');
    expect(story).toEqual(['doubted', 'doubted']);
  });

  it('lets a caller wait no longer than until its end', async () => {
    const { clock, term } = setup();
    clock.stepWall(9_000);
    const valid = term.untilValid();
    term.finish('expired');
    await expect(valid).resolves.toBeUndefined();
  });
});

describe('the fields of a term', () => {
  it('are saved when the record shows them, and not before', async () => {
    const { term, story, soFar } = setup();
    const first = term.save({ lastScheduledAt: 1 });
    term.markSent();
    const second = term.save({ schedule: 's' });
    expect([await soFar(first), await soFar(second), term.saveAt]).toEqual(['pending', 'pending', -Infinity]);
    expect([term.fields, story]).toEqual([{ lastScheduledAt: 1, schedule: 's' }, ['changed', 'changed', 'changed']]);
    term.onRecord({ lastScheduledAt: 1 });
    expect([await first, await soFar(second), term.saveAt]).toEqual([true, 'pending', -Infinity]);
    term.onRecord({ lastScheduledAt: 1, schedule: 's' });
    expect([await second, term.saveAt]).toEqual([true, Infinity]);
  });

  it('are saved by the write that carries them, also if they change meanwhile, and what changed waits again', async () => {
    const { clock, term } = setup();
    const first = term.save({ lastScheduledAt: 1 });
    const second = term.save({ lastScheduledAt: 2 });
    await clock.advance(10_500);
    term.markSent();
    term.set({ lastScheduledAt: 3 });
    term.onRecord({ lastScheduledAt: 2 });
    expect([await first, await second, term.saveAt]).toEqual([true, true, 20_000]);
  });

  it('can wait if they are only set', () => {
    const { term, story } = setup();
    term.set({ schedule: 'every second' });
    expect([term.saveAt, story]).toEqual([10_000, ['changed']]);
  });

  it('are not saved if the term ends before, and remembered if they come after that', async () => {
    const { term } = setup();
    const saved = term.save({ lastScheduledAt: 1 });
    term.finish('expired');
    await expect(saved).resolves.toBe(false);
    await expect(term.save({ lastScheduledAt: 2 })).resolves.toBe(false);
    term.set({ schedule: 's' });
    expect(term.fields).toEqual({ lastScheduledAt: 2, schedule: 's' });
  });
});
