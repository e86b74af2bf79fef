import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/fleet.js';
import { type Host, Hosts } from '../../../../test/support/hosts.js';
import { type ProcessClock } from '../../../../test/simulation/process-clock.js';
import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { LeaseLostError } from '../errors/index.js';
import { cron, interval } from '../schedule/index.js';
import { sleep } from '../time/index.js';

const LOCK_EXPIRY_MS = 10_000;
const every10Seconds = cron('*/10 * * * * *', { timeZone: 'UTC', jobName: 'report' });

const second = (date: Date) => Math.round((date.getTime() - Date.UTC(2027, 0, 1)) / 1_000);
const startsOf = (...hosts: readonly Host[]) =>
  hosts.flatMap(({ name, observer }) =>
    observer.of('runStarted').map(({ scheduledAt, cause }) => `${name} started ${second(scheduledAt)} ${cause}`),
  );
const reportsOf = (...hosts: readonly Host[]) =>
  hosts.flatMap(({ name, observer }) =>
    observer
      .of('occurrencesMissed')
      .map(({ reason, from, to }) => `${name} missed (${second(from)}, ${second(to)}] ${reason}`),
  );
const ledAtMs = ({ observer }: Host) =>
  observer.events.filter(({ event }) => event === 'leadershipGained').map(({ atMs }) => Math.round(atMs));

/** Resolves when the signal fires, or when the run has taken its time by the clock of its process. */
function lasting(clock: ProcessClock, forMs: number): (run: JobRun) => Promise<void> {
  return async ({ signal }) => {
    await sleep(clock, forMs, signal);
    signal.throwIfAborted();
  };
}

/** A job that is due every 10 s and takes 100 ms. */
function report(clock: ProcessClock): JobDefinition[] {
  return [job({ name: 'report', schedule: every10Seconds, run: lasting(clock, 100) })];
}

/** Runs that begin every half second and take so long that one is nearly always in flight. */
function busy(clock: ProcessClock, kept: JobRun[] = []): JobDefinition[] {
  const run = (given: JobRun): Promise<void> => {
    kept.push(given);
    return lasting(clock, 5_200)(given);
  };
  return [job({ name: 'report', schedule: interval(500), run })];
}

describe.each(['paused', 'suspended'] as const)('A leader whose host is %s for longer than its lock lives', (how) => {
  it('starts nothing when it goes on, and its run in flight is told that the lease is lost', async () => {
    const hosts = new Hosts();
    const runs: JobRun[] = [];
    const a = hosts.start('a', (clock) => busy(clock, runs));
    const b = hosts.start('b', (clock) => busy(clock));
    await hosts.pass(7_000);
    const inFlight = runs.at(-1);
    a.clock.halt(how);
    await hosts.pass(60_000);
    const startedBefore = a.observer.of('runStarted').length;
    const [ledAt = Infinity] = ledAtMs(b);
    expect(ledAt).toBeLessThan(6_000 + LOCK_EXPIRY_MS + 50);

    expect(inFlight?.signal.aborted).toBe(false);
    expect(() => inFlight?.assertLeader()).toThrow(LeaseLostError);
    a.clock.goOn();
    // paused: at once; suspended: with the answer to the next heartbeat
    await hosts.pass(how === 'paused' ? 1 : 3_000);
    expect(inFlight?.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(a.observer.of('runCancelled').at(-1)).toMatchObject({ code: 'LEASE_LOST' });
    await hosts.pass(60_000);
    expect(a.observer.of('runStarted')).toHaveLength(startedBefore);
    expect(a.observer.of('leadershipLost')).toHaveLength(1);
    await Promise.all([a.supervisor.close(), hosts.pass(10_000), b.supervisor.close()]);
  });

  it('starts no occurrence whose claim is answered only when it goes on, and the next leader says so', async () => {
    const hosts = new Hosts();
    const a = hosts.start('a', report);
    const b = hosts.start('b', report);
    await hosts.pass(9_500);
    a.network.fate = (command) => {
      if (command === 'claim') a.clock.halt(how);
      return 'carried';
    };
    await hosts.pass(30_000);
    a.network.fate = () => 'carried';
    a.clock.goOn();
    await hosts.pass(30_000);
    expect(reportsOf(a, b)).toEqual(['b missed (0, 10] start-not-confirmed']);
    expect(startsOf(a, b)).toEqual([20, 30, 40, 50, 60].map((due) => `b started ${String(due)} schedule`));
    await Promise.all([a.supervisor.close(), b.supervisor.close()]);
  });

  it('does not lead by a grant from before that is answered when it goes on', async () => {
    const hosts = new Hosts();
    const a = hosts.start('a', report);
    a.network.fate = (command) => {
      if (command === 'acquire' && a.network.count('acquire') === 1) a.clock.halt(how);
      return 'carried';
    };
    await hosts.pass(100);
    const b = hosts.start('b', report);
    await hosts.pass(25_000);
    a.clock.goOn();
    await hosts.pass(20_000);
    expect(a.observer.of('leadershipGained')).toEqual([]);
    expect(a.observer.of('runStarted')).toEqual([]);
    expect(b.observer.of('leadershipLost')).toEqual([]);
    expect(ledAtMs(b)).toHaveLength(1);
    await Promise.all([a.supervisor.close(), b.supervisor.close()]);
  });
});
