import { describe, expect, it } from '@jest/globals';
import { type HeartbeatResult, type ListedSession } from '../store/lock-store.js';
import { SessionList } from './session-list.js';

const NOW = 1_000_000;
const LIVING: ListedSession = { hasEnded: false, end: NOW + 10_000 };
const ENDED: ListedSession = { hasEnded: true, end: NOW };

function answer(changes: Record<string, ListedSession>, rest: Partial<HeartbeatResult> = {}): HeartbeatResult {
  const server = { serverId: 'one', serverSince: 5, version: 7, nextEnd: undefined };
  const list = { changes: new Map(Object.entries(changes)), isWholeList: false, listedCount: 0, pausesVersion: 0 };
  return { storeTime: NOW, sessions: [], ...server, ...list, ...rest };
}

/** A list with one living and one ended session. */
function twoListed(): SessionList {
  const list = new SessionList();
  list.apply(answer({ 'a.1@10000': LIVING, 'b.1@10000': ENDED }, { isWholeList: true, listedCount: 2 }));
  return list;
}

describe('The list of sessions', () => {
  it('is requested whole at first, and then from the version of the last answer', () => {
    expect(new SessionList().known).toBeUndefined();
    expect(twoListed().known).toEqual({ version: 7, serverSince: 5 });
  });

  it('takes over sessions that were listed or have ended, and keeps the others', () => {
    const list = twoListed();
    const changes = { 'a.1@10000': ENDED, 'c.1@800': LIVING };
    expect(list.apply(answer(changes, { version: 9, listedCount: 3 }))).toBe(true);
    const ids = ['a.1@10000', 'b.1@10000', 'c.1@800', 'd.1@800'];
    expect(ids.map((id) => list.hasEnded(id))).toEqual([true, true, false, false]);
    expect(ids.map((id) => list.has(id))).toEqual([true, true, true, false]);
    expect(list.known).toEqual({ version: 9, serverSince: 5 });
  });

  it('has not changed after an answer without changes', () => {
    expect(twoListed().apply(answer({}, { listedCount: 2 }))).toBe(false);
  });

  it('is replaced by a whole list', () => {
    const list = twoListed();
    expect(list.apply(answer({}, { isWholeList: true }))).toBe(true);
    expect([list.has('a.1@10000'), list.livingCount()]).toEqual([false, 0]);
  });

  it('is requested whole again when its number differs from that of the store', () => {
    const list = twoListed();
    list.apply(answer({}, { listedCount: 1 }));
    expect(list.known).toBeUndefined();
    list.apply(answer({ 'a.1@10000': LIVING }, { isWholeList: true, listedCount: 1 }));
    expect([list.known?.version, list.has('b.1@10000')]).toEqual([7, false]);
  });

  it.each([
    ['b.1@10000', 70_000],
    ['b.1@60000', 160_000],
  ])('forgets %s as the store does: %i ms after its end', (id, listedMs) => {
    const list = new SessionList();
    list.apply(answer({ [id]: ENDED }, { isWholeList: true, listedCount: 1 }));
    list.apply(answer({}, { storeTime: NOW + listedMs, listedCount: 1 }));
    expect([list.has(id), list.known?.version]).toEqual([true, 7]);
    list.apply(answer({}, { storeTime: NOW + listedMs + 1, listedCount: 0 }));
    expect([list.has(id), list.known?.version]).toEqual([false, 7]);
  });

  it('shows an ended session once, also if it ended long before the store noticed', () => {
    const list = twoListed();
    list.apply(answer({ 'a.1@10000': ENDED }, { storeTime: NOW + 100_000, listedCount: 1 }));
    expect([list.hasEnded('a.1@10000'), list.known?.version]).toEqual([true, 7]);
    list.apply(answer({}, { storeTime: NOW + 100_001, listedCount: 0 }));
    expect([list.has('a.1@10000'), list.known?.version]).toEqual([false, 7]);
  });

  it('never forgets a living session', () => {
    const list = twoListed();
    list.apply(answer({}, { storeTime: NOW + 1_000_000_000, listedCount: 1 }));
    expect([list.has('a.1@10000'), list.known?.version]).toEqual([true, 7]);
  });

  it('shows the replicas with a living session, of each lockExpiry and of any', () => {
    const list = new SessionList();
    const living = { 'a.1@10000': LIVING, 'a.2@800': LIVING, 'eu.1@b.1@800': LIVING, 'c.1@800': ENDED };
    list.apply(answer({ ...living, 'not a session': LIVING }, { isWholeList: true, listedCount: 5 }));
    expect([undefined, 800, 10_000, 60_000].map((lockExpiryMs) => list.livingCount(lockExpiryMs))).toEqual([
      2, 2, 1, 0,
    ]);
    expect(['a', 'eu.1@b', 'c'].map((replica) => list.isAlive(replica))).toEqual([true, true, false]);
  });
});
