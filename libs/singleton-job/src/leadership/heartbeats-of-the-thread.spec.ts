import { describe, expect, it } from '@jest/globals';
import { type HeartbeatRequest } from '../store/lock-store.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job } from '../testing/specs/job.js';
import { leadership } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type BackupReport, type MainThreadState } from './heartbeat-backup.js';

const ID = 'a.1@10000';

/** A heartbeat thread whose reports a test sets, and the states that it gets. */
function fakeBackup() {
  const states: MainThreadState[] = [];
  const reports: BackupReport[] = [];
  const sentIds = () => states.at(-1)?.sessions.map(({ id }) => id);
  const backup = {
    update: (state: MainThreadState) => void states.push(state),
    takeReports: () => reports.splice(0),
    close: () => Promise.resolve(),
  };
  return { states, reports, sentIds, backup };
}

describe('The sessions of a replica with a heartbeat thread', () => {
  const replicas = useReplicas();

  /** A report of a heartbeat that was sent and answered at this moment. */
  const reportOf = ({ clock }: TestReplica, changes: Partial<BackupReport> = {}): BackupReport => ({
    freezeCount: 0,
    sent: { now: clock.now(), wall: clock.wallNow() },
    answeredMs: clock.now(),
    extended: [{ id: ID, end: clock.wallNow() + 10_000 }],
    isListedAgain: false,
    ...changes,
  });

  async function start() {
    const fake = fakeBackup();
    const a = replicas.start('a', [job()], { backup: fake.backup });
    await replicas.clock.advance(12_100);
    return { a, ...fake };
  }

  /** Blocks the replica for 12 s. In between the backup sends a heartbeat, and reports it. */
  async function blockWith(a: TestReplica, reports: BackupReport[], changes: Partial<BackupReport> = {}) {
    a.clock.halt('paused');
    await replicas.clock.advance(6_000);
    const session = { id: ID, lockExpiryMs: 10_000, confirmedEnd: undefined };
    replicas.server.heartbeat({ sessions: [session], knownList: undefined });
    reports.push(reportOf(a, changes));
    await replicas.clock.advance(6_000);
    a.clock.resume();
    await replicas.clock.advance(1_000);
  }

  it('are sent to it with each heartbeat, with the server that answered', async () => {
    const { states } = await start();
    const { serverId, serverSince } = replicas.server.heartbeat({ sessions: [], knownList: undefined });
    expect(states.at(-1)).toMatchObject({
      sentMs: 12_000,
      intervalMs: 3_000,
      sessions: [{ id: ID, lockExpiryMs: 10_000, deadline: { now: 21_000 } }],
      server: { serverId, serverSince },
      answeredSentMs: 12_000,
      freezeCount: 0,
    });
  });

  it('are extended by its reports', async () => {
    const { a, reports } = await start();
    await blockWith(a, reports);
    expect(leadership(a)).toEqual([expect.stringMatching(/leadershipGained/)]);
  });

  it('are not extended by a report from before the leases were frozen', async () => {
    const { a, states, reports } = await start();
    replicas.server.loseSessions();
    await replicas.clock.advance(3_000);
    expect(states.at(-1)?.freezeCount).toBe(1);
    await blockWith(a, reports, { freezeCount: 0 });
    expect(leadership(a)).toContainEqual(expect.stringMatching(/leadershipLost/));
  });

  it('send the reported end with their next heartbeat', async () => {
    const { a, reports } = await start();
    const sent: HeartbeatRequest[] = [];
    const heartbeat = a.store.heartbeat.bind(a.store);
    a.store.heartbeat = (request) => {
      sent.push(request);
      return heartbeat(request);
    };
    await replicas.clock.advance(1_000);
    const report = reportOf(a);
    reports.push(report);
    await replicas.clock.advance(3_000);
    expect(sent[0]?.sessions[0]?.confirmedEnd).toBe(report.extended[0]?.end);
  });

  it('freeze the leases with the next answer after it listed them again', async () => {
    const { a, states, reports } = await start();
    a.store.delayMs = 100;
    const heartbeats = a.store.count('heartbeat');
    while (a.store.count('heartbeat') === heartbeats) await replicas.clock.advance(10);
    const renewals = a.store.count('renew');
    reports.push(reportOf(a, { extended: [], isListedAgain: true }));
    await replicas.clock.advance(100);
    expect([states.at(-1)?.freezeCount, a.store.count('renew') - renewals]).toEqual([1, 1]);
  });

  it('are not sent to it after they are over', async () => {
    const { a, sentIds } = await start();
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(9_000);
    expect(sentIds()).toEqual([]);
  });

  it('are not sent to it when no job needs them', async () => {
    const { a, sentIds } = await start();
    a.pool.add(job({ name: 'short', lockExpiryMs: 2_000 }));
    await replicas.clock.advance(1_000);
    expect(sentIds()).toEqual([ID, 'a.2@2000']);
    await Promise.all([a.pool.remove('short'), replicas.clock.advance(100)]);
    expect(sentIds()).toEqual([ID]);
  });

  it('are not sent to it when the replica stops', async () => {
    const { a, sentIds } = await start();
    await Promise.all([a.pool.close(), replicas.clock.advance(100)]);
    expect(sentIds()).toEqual([]);
  });

  it('are not sent to it when the replica stops with a run that has not ended', async () => {
    const fake = fakeBackup();
    const a = replicas.start('a', [job({ run: () => new Promise(() => undefined) })], { backup: fake.backup });
    await replicas.clock.advance(5_100);
    expect(fake.sentIds()).toEqual([ID]);
    await Promise.all([a.pool.close(), replicas.clock.advance(20_000)]);
    expect([a.observer.of('runSucceeded'), fake.sentIds()]).toEqual([[], []]);
  });
});
