import { describe, expect, it } from '@jest/globals';
import { type Command, type Fate } from '../../../../test/support/faulty-store.js';
import { job } from '../../../../test/support/fleet.js';
import { type Host, Hosts } from '../../../../test/support/hosts.js';
import { type ProcessClock } from '../../../../test/simulation/process-clock.js';
import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { cron } from '../schedule/index.js';
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

interface Death {
  readonly until: string;
  /** Arranges the death of a leader that is about to acquire the lock, or, from the 9th second on, to run the occurrence of the 10th. */
  readonly strike: (leader: Host) => unknown;
  readonly fromTheStart?: true;
  /** What becomes of that occurrence. */
  readonly becomes: readonly string[];
  /** When the other leads: `lockExpiry` after the last heartbeat, or when the lock is free. */
  readonly otherLeadsAtMs: number;
}

/** Dies with its request on the way: before it was carried out (`lost`), or after (`unanswered`). */
function dieWith(leader: Host, command: Command, fate: Fate): void {
  leader.network.fate = (sent) => {
    if (sent !== command) return 'carried';
    leader.kill();
    return fate;
  };
}

function dieAfter(leader: Host, delayMs: number): void {
  leader.clock.setTimer(delayMs, () => {
    leader.kill();
  });
}

/** Dies with the renewal that would record that the run has begun. */
function dieAtTheStart(leader: Host): void {
  leader.network.fate = (sent) => {
    if (sent !== 'renew' || leader.observer.of('runStarted').length === 0) return 'carried';
    leader.kill();
    return 'lost';
  };
}

/** Stops when the run has ended, and dies on the way. */
function dieInItsStop(leader: Host, command: Command, fate: Fate): void {
  dieWith(leader, command, fate);
  leader.clock.setTimer(1_500, () => void leader.supervisor.stop());
}

const STARTED = 'a started 10 schedule';
const UNCONFIRMED = 'b missed (0, 10] start-not-confirmed';
const MISFIRE = 'b started 10 misfire';
const LAST_HEARTBEAT_MS = 9_000;

/** The heartbeats are sent at 0, 3, 6 and 9 s, the occurrence is claimed at 10 s; the other starts at 1 s. */
const DEATHS: readonly Death[] = [
  {
    until: 'its acquire request is sent',
    fromTheStart: true,
    strike: (leader) => {
      dieWith(leader, 'acquire', 'lost');
    },
    becomes: ['b started 10 schedule'],
    otherLeadsAtMs: 1_000,
  },
  {
    until: 'the lock is granted: a grant that is never used leaves nothing behind',
    fromTheStart: true,
    strike: (leader) => {
      dieWith(leader, 'acquire', 'unanswered');
    },
    becomes: [],
    otherLeadsAtMs: LOCK_EXPIRY_MS,
  },
  {
    until: 'the occurrence is due',
    strike: (leader) => {
      dieAfter(leader, 900);
    },
    becomes: [MISFIRE],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'its claim is sent',
    strike: (leader) => {
      dieWith(leader, 'claim', 'lost');
    },
    becomes: [MISFIRE],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'it has claimed',
    strike: (leader) => {
      dieWith(leader, 'claim', 'unanswered');
    },
    becomes: [UNCONFIRMED],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'its run has begun',
    strike: dieAtTheStart,
    becomes: [STARTED, UNCONFIRMED],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'the beginning of its run is recorded',
    strike: (leader) => {
      dieAfter(leader, 1_050);
    },
    becomes: [STARTED],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'its run has ended',
    strike: (leader) => {
      dieAfter(leader, 1_200);
    },
    becomes: [STARTED],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'its release is sent',
    strike: (leader) => {
      dieInItsStop(leader, 'release', 'lost');
    },
    becomes: [STARTED],
    otherLeadsAtMs: LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS,
  },
  {
    until: 'its lock is released',
    strike: (leader) => {
      dieInItsStop(leader, 'release', 'unanswered');
    },
    becomes: [STARTED],
    otherLeadsAtMs: 10_500,
  },
];

describe('A leader that is killed', () => {
  it.each(DEATHS)('when $until: $becomes', async ({ strike, fromTheStart, becomes, otherLeadsAtMs }) => {
    const hosts = new Hosts();
    const a = hosts.start('a', report);
    if (fromTheStart) strike(a);
    await hosts.pass(1_000);
    const b = hosts.start('b', report);
    await hosts.pass(8_000);
    if (!fromTheStart) strike(a);
    await hosts.pass(36_000);

    expect([...startsOf(a, b), ...reportsOf(b)].filter((line) => /\b10\b/.test(line))).toEqual(becomes);
    const [ledAt = Infinity] = ledAtMs(b);
    expect(ledAt).toBeGreaterThanOrEqual(otherLeadsAtMs);
    expect(ledAt).toBeLessThan(otherLeadsAtMs + 50);
    // and each of the others is started once, or reported
    for (const due of [20, 30, 40]) {
      expect(startsOf(a, b).filter((line) => line.includes(` ${String(due)} `))).toHaveLength(1);
    }
    expect(reportsOf(a, b).filter((line) => !becomes.includes(line))).toEqual([]);
    await b.supervisor.close();
  });
});
