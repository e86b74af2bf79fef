import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultyStore } from '../../../../test/support/faulty-store.js';
import { HaltingClock } from '../../../../test/support/halting-clock.js';
import { instant } from '../base/time/clock.js';
import { Lease } from '../leadership/lease.js';
import { FaultyServer } from '../testing/faulty-server.js';
import { ManualClock } from '../testing/manual-clock.js';
import { HeartbeatThreadSender } from './heartbeat-thread-sender.js';
import { type HeartbeatThreadReport, type HeartbeatThreadState } from './thread-data.js';

const ID = 'a.1@10000';
const INTERVAL_MS = 3_000;

describe('The heartbeat thread', () => {
  let common: ManualClock;
  let clock: HaltingClock;
  let server: FaultyServer;
  let store: FaultyStore;
  let reports: HeartbeatThreadReport[];
  let unreachable: string[];
  let sender: HeartbeatThreadSender;

  beforeEach(() => {
    begin();
  });

  afterEach(async () => {
    sender.receive({ incarnation: '', sentAt: 0, intervalMs: INTERVAL_MS, leases: [] });
    await common.advance(1_000);
    await store.close();
    expect(common.pendingTimers).toBe(0);
  });

  function begin(serverName?: string): void {
    common = new ManualClock();
    clock = new HaltingClock(common);
    server = new FaultyServer(common, serverName);
    store = new FaultyStore(server, clock);
    reports = [];
    unreachable = [];
    sender = new HeartbeatThreadSender({
      store,
      clock,
      report: (report) => reports.push(report),
      reportUnreachable: ({ message }) => unreachable.push(message),
    });
  }

  /** A heartbeat of the main thread. It is answered at once, and the thread receives the state. */
  function mainBeats(): HeartbeatThreadState {
    const lease = new Lease(ID);
    const sent = instant(clock);
    const { incarnation } = server.sync({ isNewcomer: false, renew: [], grant: [ID], revoke: [], read: [] });
    lease.extend(sent);
    const { deadline = sent } = lease;
    const state = {
      incarnation: incarnation.id,
      sentAt: sent.now,
      intervalMs: INTERVAL_MS,
      leases: [{ id: ID, deadline }],
    };
    sender.receive(state);
    return state;
  }

  /** A heartbeat of the main thread, and none for so long after it. */
  async function mainIsSilentFor(ms: number): Promise<HeartbeatThreadState> {
    const state = mainBeats();
    await common.advance(ms);
    return state;
  }

  async function mainBeatsFor(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += INTERVAL_MS) await mainIsSilentFor(INTERVAL_MS);
  }

  /** When the renewals were sent that are reported. */
  const reportedAt = () => reports.map(({ sent }) => sent.now);
  const requests = () => store.syncs.length;
  const isAlive = () => server.sync({ isNewcomer: false, renew: [], grant: [], revoke: [], read: [] }).leases.has(ID);

  it('renews a lease when the main thread is late, one request at a time, and reports each', async () => {
    const { incarnation } = mainBeats();
    store.delayMs = 1_000;
    await common.advance(7_000);
    expect(reportedAt()).toEqual([4_500, 6_000]);
    expect(reports[0]).toEqual({ incarnation, id: ID, sent: { now: 4_500, wall: expect.any(Number) } });
  });

  it('ends as soon as the main thread is back', async () => {
    await mainIsSilentFor(5_000);
    await mainIsSilentFor(4_000);
    expect(reportedAt()).toEqual([4_500]);
  });

  it('goes on by its own renewals, until the main thread has been silent for 20 s', async () => {
    await mainIsSilentFor(60_000);
    expect(reportedAt().at(-1)).toBe(19_500);
    expect(isAlive()).toBe(false);
  });

  it('does not renew a lease that the main thread has given up', async () => {
    const state = await mainIsSilentFor(5_000);
    sender.receive({ ...state, leases: [] });
    await common.advance(30_000);
    expect(reportedAt()).toEqual([4_500]);
  });

  it('sends again what failed, while the deadline has not passed', async () => {
    mainBeats();
    store.outcome = () => 'STORE_UNREACHABLE';
    await common.advance(6_000);
    store.outcome = () => 'answered';
    await common.advance(1_000);
    expect(reportedAt()).toEqual([6_750]);
    store.outcome = () => 'STORE_UNREACHABLE';
    await common.advance(9_000);
    store.outcome = () => 'answered';
    await common.advance(9_000);
    expect(reportedAt()).toEqual([6_750]);
  });

  it('does not renew a lease whose deadline has passed on the wall clock', async () => {
    mainBeats();
    clock.aheadMs = 10_000;
    await common.advance(8_000);
    expect(requests()).toBe(0);
  });

  it.each(['a restart', 'a lost lease'])('stops after %s, until the main thread has had an answer', async (what) => {
    await mainIsSilentFor(5_000);
    if (what === 'a restart') server.restart(server.snapshot());
    else server.sync({ isNewcomer: false, renew: [], grant: [], revoke: [ID], read: [] });
    const sent = requests();
    await common.advance(3_000);
    expect([reportedAt(), requests() - sent]).toEqual([[4_500], 1]);
    await mainIsSilentFor(5_000);
    expect(reportedAt()).toEqual([4_500, 12_500]);
  });

  it('reports nothing of an answer that arrives when the main thread knows of other data', async () => {
    mainBeats();
    store.delayMs = 1_000;
    await common.advance(5_000);
    server.restart();
    await mainIsSilentFor(2_000);
    expect(reports).toEqual([]);
    await common.advance(4_000);
    expect(reports.map(({ incarnation }) => incarnation.split('/')[0])).toEqual(['memory-2']);
  });

  it('sends nothing where the server hides itself', async () => {
    begin('');
    await mainIsSilentFor(9_000);
    expect(requests()).toBe(0);
  });

  it('is reported if it has no connection for 10 s while the main thread has one', async () => {
    await mainBeatsFor(INTERVAL_MS);
    store.partition();
    store.reconnect();
    await mainBeatsFor(9_000);
    store.heal();
    await mainBeatsFor(9_000);
    expect(unreachable).toEqual([]);
    store.partition();
    store.reconnect();
    await mainBeatsFor(12_000);
    mainBeats();
    expect(unreachable).toEqual(['the connection was closed']);
  });

  it('ends the leases when the process ends, and tells all replicas', async () => {
    mainBeats();
    await sender.endLeases();
    expect(isAlive()).toBe(false);
    expect(store.sent.at(-1)).toEqual({ request: 'publish', names: '*' });
    await common.advance(30_000);
    expect(requests()).toBe(1);
  });

  it('does not fail if the store is away when the process ends', async () => {
    mainBeats();
    store.outcome = () => 'STORE_UNREACHABLE';
    await sender.endLeases();
    expect(isAlive()).toBe(true);
  });
});
