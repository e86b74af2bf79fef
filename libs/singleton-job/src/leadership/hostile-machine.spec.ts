import { describe, expect, it } from '@jest/globals';
import { type Command, type Fate } from '../../../../test/support/faulty-store.js';
import { type FleetReplica, job } from '../../../../test/support/fleet.js';
import { type Host, Hosts } from '../../../../test/support/hosts.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { type ProcessClock } from '../../../../test/simulation/process-clock.js';
import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { type JobEvents } from '../events/index.js';
import { LeaseLostError } from '../errors/index.js';
import { cron, fixedRate, interval } from '../schedule/index.js';
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
  /** Arranges the death of a leader that is about to bid, or, from the 9th second on, to run the occurrence of the 10th. */
  readonly strike: (leader: Host) => unknown;
  readonly fromTheStart?: true;
  /** What becomes of that occurrence. */
  readonly becomes: readonly string[];
  /** When the other leads: the lock was last confirmed `lockExpiry` before, or is free. */
  readonly otherLeadsAtMs: number;
}

/** Dies with its command on the way: before it was carried out (`lost`), or after (`unanswered`). */
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

/** Dies with its first such command after the run. */
const afterTheRun = (leader: Host, command: Command, fate: Fate) => {
  const isRunning = (): boolean => leader.observer.of('runSucceeded').length === 0;
  leader.network.fate = (sent) => {
    if (sent !== command || isRunning()) return 'carried';
    leader.kill();
    return fate;
  };
};

/** Stops when the run has ended, and dies on the way. */
const inItsStop = (leader: Host, command: Command, fate: Fate) => {
  dieWith(leader, command, fate);
  leader.clock.setTimer(1_500, () => void leader.supervisor.stop());
};

const STARTED = 'a started 10 schedule';
const UNCONFIRMED = 'b missed (0, 10] start-not-confirmed';

/** Renewed at 9 s, claimed at 10 s, renewed at 12 s; the first bid was at 0 s, that of the other at 1 s. */
const DEATHS: readonly Death[] = [
  {
    until: 'its bid is sent',
    fromTheStart: true,
    strike: (leader) => {
      dieWith(leader, 'acquire', 'lost');
    },
    becomes: ['b started 10 schedule'],
    otherLeadsAtMs: 1_000,
  },
  {
    until: 'its bid is granted',
    fromTheStart: true,
    strike: (leader) => {
      dieWith(leader, 'acquire', 'unanswered');
    },
    becomes: ['b started 10 misfire'],
    otherLeadsAtMs: LOCK_EXPIRY_MS,
  },
  {
    until: 'the occurrence is due',
    strike: (leader) => {
      dieAfter(leader, 900);
    },
    becomes: ['b started 10 misfire'],
    otherLeadsAtMs: 9_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its claim is sent',
    strike: (leader) => {
      dieWith(leader, 'claim', 'lost');
    },
    becomes: ['b started 10 misfire'],
    otherLeadsAtMs: 9_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'it has claimed',
    strike: (leader) => {
      dieWith(leader, 'claim', 'unanswered');
    },
    becomes: [UNCONFIRMED],
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its run has begun',
    strike: (leader) => {
      dieAfter(leader, 1_050);
    },
    becomes: [STARTED, UNCONFIRMED],
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its run has ended',
    strike: (leader) => {
      dieAfter(leader, 1_200);
    },
    becomes: [STARTED, UNCONFIRMED],
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its renewal is sent',
    strike: (leader) => {
      afterTheRun(leader, 'renew', 'lost');
    },
    becomes: [STARTED, UNCONFIRMED],
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its lease is renewed',
    strike: (leader) => {
      afterTheRun(leader, 'renew', 'unanswered');
    },
    becomes: [STARTED],
    otherLeadsAtMs: 12_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its release is sent',
    strike: (leader) => {
      inItsStop(leader, 'release', 'lost');
    },
    becomes: [STARTED, UNCONFIRMED],
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its lock is released',
    strike: (leader) => {
      inItsStop(leader, 'release', 'unanswered');
    },
    becomes: [STARTED],
    // nobody tells the other: when it asked last, the lock had just been confirmed
    otherLeadsAtMs: 10_000 + LOCK_EXPIRY_MS,
  },
  {
    until: 'its release is told',
    strike: (leader) => {
      inItsStop(leader, 'announce', 'unanswered');
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
    expect(startsOf(a, b)).toEqual(
      [20, 30, 40, 50, 60].map((due) => `b started ${String(due)} ${due === 20 ? 'misfire' : 'schedule'}`),
    );
    await Promise.all([a.supervisor.close(), b.supervisor.close()]);
  });

  it('does not lead by a bid that was granted before and is answered when it goes on', async () => {
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

const DAY_MS = 24 * 3_600_000;

interface Seen {
  /** Starts while the lock was somebody else's, or while a run of another replica was in flight. */
  readonly faults: string[];
  inFlight: number;
}

describe('Replicas whose wall clocks are wrong', () => {
  const fleet = useFleet();

  const start = (name: string, aheadMs: number, seen: Seen): FleetReplica => {
    const run = async ({ job: of }: JobRun): Promise<void> => {
      if (fleet.server.holderOf(of)?.startsWith(`${name}#`) !== true)
        seen.faults.push(`${name} started without the lock`);
      if (of === 'grid') return;
      seen.inFlight += 1;
      if (seen.inFlight > 1) seen.faults.push(`${name} started beside another`);
      await sleep(fleet.clock, 300, new AbortController().signal);
      seen.inFlight -= 1;
    };
    const replica = fleet.start(name, [
      job({ name: 'report', schedule: every10Seconds, run }),
      job({ name: 'grid', schedule: fixedRate(1_000, { offsetMs: 0 }), run }),
    ]);
    replica.clock.aheadMs = aheadMs;
    return replica;
  };

  it.each([
    ['by a second', { a: 500, b: -500, step: 0 }],
    ['by more than the lock lives', { a: 15_000, b: -15_000, step: 0 }],
    ['by a day, the first ahead', { a: DAY_MS, b: 0, step: 0 }],
    ['by a day, the first behind', { a: -DAY_MS, b: 0, step: 0 }],
    ['by two days', { a: DAY_MS, b: -DAY_MS, step: 0 }],
    ['not at first, and are stepped ahead and back', { a: 0, b: 0, step: 20_000 }],
    ['not at first, and are stepped back and ahead', { a: 0, b: 0, step: -20_000 }],
    ['not at first, and are stepped a day ahead and back', { a: 0, b: 0, step: DAY_MS }],
    ['not at first, and are stepped a day back and ahead', { a: 0, b: 0, step: -DAY_MS }],
  ])('and differ %s start each occurrence once, or report it, and only with the lock', async (_how, { a, b, step }) => {
    const seen: Seen = { faults: [], inFlight: 0 };
    const [first, second] = [start('a', a, seen), start('b', b, seen)];
    await fleet.clock.advance(33_000);
    first.clock.aheadMs += step;
    await fleet.clock.advance(12_000);
    void first.supervisor.stop();
    await fleet.clock.advance(15_000);
    const third = start('c', a, seen);
    second.clock.aheadMs += step;
    await fleet.clock.advance(33_000);
    second.clock.aheadMs -= 2 * step;
    await fleet.clock.advance(12_000);
    void second.supervisor.stop();
    await fleet.clock.advance(45_000);

    const replicas = [first, second, third];
    const started = replicas.flatMap(({ observer }) =>
      observer
        .of('runStarted')
        .filter((run) => run.job === 'report')
        .map(({ scheduledAt }) => scheduledAt.getTime()),
    );
    expect(new Set(started).size).toBe(started.length);
    const reported = replicas.flatMap(({ observer }) => observer.of('occurrencesMissed'));
    const from = Date.UTC(2027, 0, 1);
    const lost = Array.from({ length: 12 }, (_, index) => from + (index + 1) * 10_000)
      .filter((due) => !started.includes(due))
      .filter(
        (due) =>
          !reported.some(
            (missed: JobEvents['occurrencesMissed']) => missed.from.getTime() < due && due <= missed.to.getTime(),
          ),
      );
    expect(lost).toEqual([]);
    expect(seen.faults).toEqual([]);
    for (const { observer } of replicas) expect(observer.of('leadershipGained').length).toBeGreaterThan(0);
  });
});
