import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BackupReport, type MainThreadState } from '../leadership/heartbeat-backup.js';
import { deadlineOf } from '../leadership/lease.js';
import { InMemoryLockStore } from '../store/memory/in-memory-store.js';
import { ManualClock, TestServer } from '../testing/index.js';
import { FaultyStore } from '../testing/replicas/faulty-store.js';
import { ReplicaClock } from '../testing/replicas/replica-clock.js';
import { instant } from '../base/time/clock.js';
import { BackupHeartbeats } from './backup-heartbeats.js';

const ID = 'a.1@10000';
const LOCK_EXPIRY_MS = 10_000;
const INTERVAL_MS = 3_000;

interface SetupOptions {
  /** The server does not say which one it is. */
  readonly isNameless?: boolean;
}

/** The backup of a process whose main thread beats when the test says so. */
function setup({ isNameless = false }: SetupOptions = {}) {
  const common = new ManualClock();
  const clock = new ReplicaClock(common);
  const server = new TestServer(common);
  const withoutName = <T extends object>(result: T): T =>
    isNameless ? { ...result, serverId: undefined, serverSince: 0 } : result;
  const memory = new InMemoryLockStore(server);
  const store = new FaultyStore(memory, common, clock);
  const heartbeat = store.heartbeat.bind(store);
  store.heartbeat = async (request) => withoutName(await heartbeat(request));
  const reports: BackupReport[] = [];
  const unreachable: string[] = [];
  const backup = new BackupHeartbeats({
    store,
    clock,
    report: (report) => reports.push(report),
    reportUnreachable: ({ message }) => unreachable.push(message),
  });
  let freezeCount = 0;
  let confirmedEnd: number | undefined;

  /** A heartbeat of the main thread. It is answered at once, and the backup receives the state. */
  const mainBeats = ({ freezes = false } = {}): MainThreadState => {
    const sent = instant(clock);
    const session = { id: ID, lockExpiryMs: LOCK_EXPIRY_MS, confirmedEnd };
    const result = withoutName(server.heartbeat({ sessions: [session], knownList: undefined }));
    confirmedEnd = result.sessions[0]?.end ?? NaN;
    if (freezes) freezeCount += 1;
    const state = {
      sentMs: sent.now,
      intervalMs: INTERVAL_MS,
      sessions: [{ ...session, confirmedEnd, deadline: deadlineOf(sent, LOCK_EXPIRY_MS) }],
      server: { serverId: result.serverId, serverSince: result.serverSince },
      answeredSentMs: sent.now,
      knownList: { version: result.version, serverSince: result.serverSince },
      freezeCount,
    };
    backup.receive(state);
    return state;
  };
  /** When heartbeats were sent that extended the session. */
  const extendedAt = () => reports.filter(({ extended }) => extended.length > 0).map(({ sent }) => sent.now);
  const beats = () => store.count('heartbeat');
  const end = async (): Promise<void> => {
    await backup.close();
    expect(common.pendingTimers).toBe(0);
  };
  return { common, clock, server, memory, store, backup, reports, unreachable, mainBeats, extendedAt, beats, end };
}

describe('Heartbeats of the backup', () => {
  let fixture: ReturnType<typeof setup>;
  beforeEach(() => {
    fixture = setup();
  });
  afterEach(() => fixture.end());

  it('are not sent while the main thread is on time', async () => {
    const { common, mainBeats, beats } = fixture;
    for (let beat = 0; beat < 20; beat++) {
      mainBeats();
      await common.advance(INTERVAL_MS);
    }
    expect(beats()).toBe(0);
  });

  it('are sent when that of the main thread is overdue, and extend its sessions', async () => {
    const { common, server, mainBeats, reports, extendedAt } = fixture;
    mainBeats();
    await common.advance(12_000);
    expect(extendedAt().slice(0, 3)).toEqual([3_750, 4_500, 5_250]);
    const { extended, sent, answeredMs } = reports.at(-1) ?? {};
    expect(extended).toEqual([{ id: ID, end: server.sessionOf(ID)?.end }]);
    expect([sent?.now, answeredMs]).toEqual([12_000, 12_000]);
  });

  it('are reported with the time at which they were sent', async () => {
    const { common, store, mainBeats, reports } = fixture;
    mainBeats();
    store.delayMs = 500;
    await common.advance(4_300);
    expect(reports.map(({ sent, answeredMs }) => [sent.now, answeredMs])).toEqual([[3_750, 4_250]]);
  });

  it('transfer only what has changed since the main thread had the list', async () => {
    const { common, server, store, mainBeats } = fixture;
    const sizes: number[] = [];
    const heartbeat = store.heartbeat.bind(store);
    store.heartbeat = async (request) => {
      const result = await heartbeat(request);
      sizes.push(result.changes.size);
      return result;
    };
    const other = (id: string) => ({ id, lockExpiryMs: 60_000, confirmedEnd: undefined });
    server.heartbeat({ sessions: [other('b.1@60000'), other('c.1@60000')], knownList: undefined });
    mainBeats();
    await common.advance(3_800);
    server.heartbeat({ sessions: [other('d.1@60000')], knownList: undefined });
    await common.advance(1_500);
    expect(sizes).toEqual([0, 1, 0]);
  });

  it('end as soon as the main thread is back', async () => {
    const { common, mainBeats, beats } = fixture;
    mainBeats();
    await common.advance(5_000);
    mainBeats();
    const before = beats();
    await common.advance(3_500);
    expect([before, beats()]).toEqual([2, 2]);
  });

  it('go on by their own extensions, also before the main thread knows of them', async () => {
    const { common, backup, mainBeats, extendedAt } = fixture;
    const before = mainBeats();
    await common.advance(8_000);
    backup.receive({ ...before, sentMs: 8_000 });
    await common.advance(5_000);
    expect(extendedAt().slice(-2)).toEqual([11_750, 12_500]);
  });

  it('end when the main thread has been silent for 20 s', async () => {
    const { common, server, mainBeats, extendedAt } = fixture;
    mainBeats();
    await common.advance(60_000);
    expect(extendedAt().at(-1)).toBe(19_500);
    expect(server.sessionOf(ID)?.hasEnded).toBe(true);
  });

  it('report once that they had no connection for 10 s while the main thread had one', async () => {
    const { common, store, mainBeats, unreachable } = fixture;
    const beatFor = async (ms: number): Promise<void> => {
      for (let passedMs = 0; passedMs < ms; passedMs += INTERVAL_MS) {
        mainBeats();
        await common.advance(INTERVAL_MS);
      }
    };
    await beatFor(INTERVAL_MS);
    store.partition();
    store.reconnect();
    await beatFor(9_000);
    store.heal();
    await beatFor(9_000);
    expect(unreachable).toEqual([]);
    store.partition();
    store.reconnect();
    await beatFor(30_000);
    expect(unreachable).toEqual(['the connection was closed']);
    store.heal();
  });

  it('leave out sessions that the main thread has given up', async () => {
    const { common, backup, mainBeats, beats } = fixture;
    const state = mainBeats();
    await common.advance(4_000);
    backup.receive({ ...state, sessions: [] });
    const before = beats();
    await common.advance(30_000);
    expect(beats()).toBe(before);
  });

  it('extend nothing after a restart until the new server has answered the main thread', async () => {
    const { common, server, mainBeats, extendedAt, beats } = fixture;
    mainBeats();
    await common.advance(5_000);
    server.restart(server.snapshot());
    await common.advance(3_000);
    expect(extendedAt().at(-1)).toBe(4_500);
    expect(beats()).toBe(6);
    mainBeats({ freezes: true });
    await common.advance(4_000);
    expect(extendedAt().at(-1)).toBe(11_750);
  });

  it('extend nothing by an answer to a request from before the leases were frozen', async () => {
    const { common, store, mainBeats, reports } = fixture;
    mainBeats();
    store.delayMs = 1_000;
    await common.advance(4_000);
    mainBeats({ freezes: true });
    await common.advance(2_000);
    expect(reports.map(({ freezeCount }) => freezeCount)).toEqual([0]);
  });

  it('extend nothing after a lost list until the next answer to the main thread', async () => {
    const { common, server, backup, mainBeats, reports, extendedAt } = fixture;
    const before = mainBeats();
    await common.advance(4_000);
    server.loseSessions();
    await common.advance(1_000);
    expect(reports.at(-1)).toMatchObject({ extended: [], isListedAgain: true });
    // sent before the loss, and answered after it
    backup.receive({ ...before, freezeCount: 1 });
    await common.advance(1_000);
    expect(extendedAt()).toEqual([3_750]);
    mainBeats({ freezes: true });
    await common.advance(4_000);
    expect(extendedAt().at(-1)).toBe(9_750);
  });

  it('extend no session whose deadline has passed when the answer arrives', async () => {
    const { common, clock, store, mainBeats, extendedAt, beats } = fixture;
    mainBeats();
    store.answersAfter = new Promise((resolve) => common.setTimer(9_000, resolve));
    await common.advance(4_000);
    // the process is stopped: the answer is read when it continues
    clock.halt('paused');
    await common.advance(8_000);
    clock.resume();
    await common.advance(8_000);
    expect([extendedAt(), beats()]).toEqual([[], 1]);
  });

  it('extend no session whose deadline has passed on the wall clock', async () => {
    const { common, clock, mainBeats, extendedAt, beats } = fixture;
    mainBeats();
    clock.aheadMs = 10_000;
    await common.advance(8_000);
    expect([extendedAt(), beats()]).toEqual([[], 0]);
    clock.aheadMs = 0;
  });

  it('are never sent again for a session that the store answered as ended', async () => {
    const { common, server, backup, mainBeats, extendedAt, beats } = fixture;
    const state = mainBeats();
    await common.advance(4_000);
    server.endSession({ id: ID, lockExpiryMs: LOCK_EXPIRY_MS, confirmedEnd: undefined });
    await common.advance(750);
    const [session] = state.sessions;
    if (session !== undefined) backup.receive({ ...state, sessions: [session], answeredSentMs: 4_750 });
    const before = beats();
    await common.advance(10_000);
    expect([extendedAt(), beats()]).toEqual([[3_750], before]);
  });

  it('extend nothing by the answer of a server without an id', async () => {
    const { common, store, mainBeats, extendedAt } = fixture;
    const heartbeat = store.heartbeat.bind(store);
    store.heartbeat = async (request) => ({ ...(await heartbeat(request)), serverId: undefined });
    mainBeats();
    await common.advance(8_000);
    expect(extendedAt()).toEqual([]);
  });

  it('that fail are sent again at the next check', async () => {
    const { common, store, mainBeats, extendedAt } = fixture;
    mainBeats();
    store.outcome = () => 'STORE_UNREACHABLE';
    await common.advance(5_000);
    store.outcome = () => 'answered';
    await common.advance(1_000);
    expect(extendedAt()).toEqual([5_250, 6_000]);
  });
});

describe('With a server without an id', () => {
  it('no heartbeat of the backup is sent', async () => {
    const { common, mainBeats, extendedAt, beats, end } = setup({ isNameless: true });
    mainBeats();
    await common.advance(9_000);
    expect([extendedAt(), beats()]).toEqual([[], 0]);
    await end();
  });
});
