import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { Heartbeat, type Sync } from './heartbeat.js';
import { PAUSE_OF_ALL } from './record.js';

const INTERVAL_MS = 3_000;

function setup(names: readonly string[] = []) {
  const clock = new ManualClock();
  const heartbeat = new Heartbeat(clock, INTERVAL_MS, () => 0.5);
  heartbeat.listening(true);
  const leases = { isNewcomer: false, renew: ['a.1@10000'], grant: [], revoke: [] };
  const send = (always: readonly string[] = []): Sync => heartbeat.next(leases, names, always, () => true);
  /** The names in the next sync after that of the pause of all jobs. It is answered at once. */
  const read = (always?: readonly string[]): readonly string[] => {
    const { request } = send(always);
    heartbeat.answered(1);
    const [first, ...names] = request.read;
    expect(first).toBe(PAUSE_OF_ALL);
    return names;
  };
  const dueAt = (): number => heartbeat.dueAt;
  return { clock, heartbeat, send, read, dueAt };
}

function numbered(count: number, prefix = 'job'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);
}

describe('the interval of heartbeats', () => {
  it.each([
    ['is the one of the module', 10_000, false, 3_000],
    ['may be a third of the shortest TTL', 9_000, false, 3_000],
    ['is a quarter of the shortest TTL, if a third is less', 8_000, false, 2_000],
    ['is a second while no message arrives', 10_000, true, 1_000],
  ])('%s', (_rule, ttlMs, hasNoHints, intervalMs) => {
    const { heartbeat } = setup();
    heartbeat.listening(!hasNoHints);
    heartbeat.adapt(ttlMs);
    expect(heartbeat.intervalMs).toBe(intervalMs);
  });
});

describe('a heartbeat', () => {
  it('leaves at once, and then every interval, whatever else leaves', async () => {
    const { clock, heartbeat, read, dueAt } = setup(['job']);
    expect(dueAt()).toBe(-Infinity);
    read();
    await clock.advance(1_000);
    heartbeat.requestRead('other');
    expect(read()).toEqual(['other']);
    expect(dueAt()).toBe(INTERVAL_MS);
  });

  it.each([
    ['a third of the names, so that each is read once in three intervals', 7, [3, 3, 1]],
    ['400 names at most in its turn', 1_500, [400, 400, 400, 300]],
  ])('reads %s', async (_rule, count, turns) => {
    const { clock, read } = setup(numbered(count));
    const names: (readonly string[])[] = [];
    while (names.length < turns.length) {
      names.push(read());
      await clock.advance(INTERVAL_MS);
    }
    expect(names.flat()).toEqual(numbered(count));
    expect(names.map(({ length }) => length)).toEqual(turns);
    expect(read()[0]).toBe('job-0');
  });

  it('reads all names until the store says that messages arrive', () => {
    const heartbeat = new Heartbeat(new ManualClock(), INTERVAL_MS, () => 0.5);
    const leases = { isNewcomer: true, renew: [], grant: [], revoke: [] };
    expect(heartbeat.next(leases, numbered(7), [], () => true).request.read).toEqual([PAUSE_OF_ALL, ...numbered(7)]);
  });

  it('reads the doubtful names each time', () => {
    const { heartbeat, read } = setup();
    heartbeat.requestRead('job');
    expect([read(['lock']), read(['lock'])]).toEqual([['job', 'lock'], ['lock']]);
  });
});

describe('a request', () => {
  it('leaves at once with all others, and once', () => {
    const { heartbeat, read, dueAt } = setup();
    read();
    for (const name of ['a', 'b', 'a']) heartbeat.requestRead(name);
    expect(dueAt()).toBe(-Infinity);
    expect(read()).toEqual(['a', 'b']);
    expect(dueAt()).toBe(INTERVAL_MS);
  });

  it('waits for the sync under way, and leaves with the next', () => {
    const { heartbeat, send, read, dueAt } = setup();
    send();
    heartbeat.requestRead('a');
    expect(dueAt()).toBe(Infinity);
    heartbeat.answered(1);
    expect(dueAt()).toBe(-Infinity);
    expect(read()).toEqual(['a']);
  });

  it('for more than 400 names leaves in several syncs, one after the other', () => {
    const { heartbeat, read, dueAt } = setup();
    for (const name of numbered(1_000)) heartbeat.requestRead(name);
    const syncs = [400, 400, 200].map((length) => {
      expect(dueAt()).toBe(-Infinity);
      const names = read();
      expect(names.length).toBe(length);
      return names;
    });
    expect(syncs.flat()).toEqual(numbered(1_000));
    expect(dueAt()).toBe(INTERVAL_MS);
  });

  it('is granted beside 1,000 doubtful names, which wait for their turn', () => {
    const { heartbeat, read, dueAt } = setup();
    heartbeat.requestRead('a');
    expect(read(numbered(1_000))).toEqual(['a', ...numbered(399)]);
    expect(dueAt()).toBe(INTERVAL_MS);
  });

  it('without a name sends a sync only', () => {
    const { heartbeat, read, dueAt } = setup();
    read();
    heartbeat.requestSync();
    expect(dueAt()).toBe(-Infinity);
    expect(read()).toEqual([]);
    expect(dueAt()).toBe(INTERVAL_MS);
  });
});

describe('a request that all replicas send at one time', () => {
  it.each([
    { rule: 'is up to 2 ms later for each that is alive', replicas: 10, waitMs: 10 },
    { rule: 'is 50 ms later at most', replicas: 2_000, waitMs: 25 },
  ])('$rule', ({ replicas, waitMs }) => {
    const { heartbeat } = setup();
    heartbeat.answered(replicas);
    expect(heartbeat.jitteredAt).toBe(waitMs);
  });
});

describe('a sync that failed', () => {
  it.each([
    { rule: 'is sent again after 250 ms', intervalMs: INTERVAL_MS, retryAt: 250 },
    { rule: 'is sent again after a quarter of a short interval', intervalMs: 200, retryAt: 50 },
  ])('$rule, with its names', ({ intervalMs, retryAt }) => {
    const { heartbeat, send, read } = setup(numbered(3));
    heartbeat.intervalMs = intervalMs;
    heartbeat.requestRead('a');
    heartbeat.failed(send());
    expect(heartbeat.dueAt).toBe(retryAt);
    expect(read()).toEqual(['a', 'job-0']);
  });

  it('does not wait on a new connection', () => {
    const { heartbeat, send, dueAt } = setup();
    heartbeat.failed(send());
    heartbeat.retryNow();
    expect(dueAt()).toBe(-Infinity);
  });
});
