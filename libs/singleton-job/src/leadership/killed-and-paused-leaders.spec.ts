import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { LeaseLostError } from '../base/errors/run.errors.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type Outcome } from '../testing/replicas/faulty-store.js';
import { type ForwardedRequest } from '../testing/replicas/forwarding-store.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type Clock } from '../base/time/clock.js';

const LOCK_EXPIRY_MS = 10_000;
const every10Seconds = cron('*/10 * * * * *', { timeZone: 'UTC', jobName: 'report' });

const second = (date: Date) => Math.round((date.getTime() - Date.UTC(2027, 0, 1)) / 1_000);
const startsOf = (...replicas: readonly TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer.of('runStarted').map(({ scheduledAt, cause }) => `${name} started ${second(scheduledAt)} ${cause}`),
  );
const reportsOf = (...replicas: readonly TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer
      .of('occurrencesMissed')
      .map(({ reason, from, to }) => `${name} missed (${second(from)}, ${second(to)}] ${reason}`),
  );
const ledAtMs = (replica: TestReplica) => timesOf(replica, 'leadershipGained').map(Math.round);

/** A job that is due every 10 s and takes 100 ms. */
function report({ clock }: { readonly clock: Clock }): Job[] {
  return [job({ name: 'report', schedule: every10Seconds, run: lasting(clock, 100, { obedient: true }) })];
}

/** Runs that begin every half second and take so long that one is nearly always in flight. */
function busy(clock: Clock, kept: JobRun[] = []): Job[] {
  const run = (given: JobRun): Promise<void> => {
    kept.push(given);
    return lasting(clock, 5_200, { obedient: true })(given);
  };
  return [job({ name: 'report', schedule: interval(500), run })];
}

type Arrangement = (leader: TestReplica) => void;

interface Death {
  readonly until: string;
  /** Arranges the death of a leader that is about to acquire the lock, or, from the 9th second on, to run the occurrence of the 10th. */
  readonly arrange: Arrangement;
  readonly fromTheStart?: true;
  /** What becomes of that occurrence. */
  readonly becomes: readonly string[];
  /** When the other leads. @default lockExpiry after the last heartbeat */
  readonly otherLeadsAtMs?: number;
}

/** Dies with its request on the way: before it was carried out (`request-lost`), or after (`answer-lost`). */
const dieWith =
  (request: ForwardedRequest, outcome: Outcome): Arrangement =>
  (leader) => {
    leader.store.outcome = (sent) => {
      if (sent !== request) return 'answered';
      leader.kill();
      return outcome;
    };
  };

const dieAfter =
  (delayMs: number): Arrangement =>
  (leader) => {
    leader.clock.setTimer(delayMs, () => {
      leader.kill();
    });
  };

/** Dies with the renewal that would record that the run has begun. */
const dieAtTheStart: Arrangement = (leader) => {
  leader.store.outcome = (sent) => {
    if (sent !== 'renew' || leader.observer.of('runStarted').length === 0) return 'answered';
    leader.kill();
    return 'request-lost';
  };
};

/** Stops when the run has ended, and dies on the way. */
const dieInItsStop =
  (request: ForwardedRequest, outcome: Outcome): Arrangement =>
  (leader) => {
    dieWith(request, outcome)(leader);
    leader.clock.setTimer(1_500, () => void leader.pool.stop());
  };

const STARTED = 'a started 10 schedule';
const UNCONFIRMED = 'b missed (0, 10] start-not-confirmed';
const MISFIRE = 'b started 10 misfire';
const LAST_HEARTBEAT_MS = 9_000;

/** The heartbeats are sent at 0, 3, 6 and 9 s, the occurrence is claimed at 10 s; the other starts at 1 s. */
const DEATHS: readonly Death[] = [
  {
    until: 'its acquire request is sent',
    fromTheStart: true,
    arrange: dieWith('acquire', 'request-lost'),
    becomes: ['b started 10 schedule'],
    otherLeadsAtMs: 1_000,
  },
  {
    until: 'the lock is granted: the occurrences since then are not lost',
    fromTheStart: true,
    arrange: dieWith('acquire', 'answer-lost'),
    becomes: [MISFIRE],
    otherLeadsAtMs: LOCK_EXPIRY_MS,
  },
  { until: 'the occurrence is due', arrange: dieAfter(900), becomes: [MISFIRE] },
  { until: 'its claim is sent', arrange: dieWith('claim', 'request-lost'), becomes: [MISFIRE] },
  { until: 'it has claimed', arrange: dieWith('claim', 'answer-lost'), becomes: [UNCONFIRMED] },
  { until: 'its run has begun', arrange: dieAtTheStart, becomes: [STARTED, UNCONFIRMED] },
  { until: 'the beginning of its run is recorded', arrange: dieAfter(1_050), becomes: [STARTED] },
  { until: 'its run has ended', arrange: dieAfter(1_200), becomes: [STARTED] },
  { until: 'its release is sent', arrange: dieInItsStop('release', 'request-lost'), becomes: [STARTED] },
  {
    until: 'its lock is released',
    arrange: dieInItsStop('release', 'answer-lost'),
    becomes: [STARTED],
    otherLeadsAtMs: 10_500,
  },
];

describe('A leader that is killed', () => {
  const replicas = useReplicas();

  it.each(DEATHS)(
    'when $until: $becomes',
    async ({ arrange, fromTheStart, becomes, otherLeadsAtMs = LAST_HEARTBEAT_MS + LOCK_EXPIRY_MS }) => {
      const a = replicas.start('a', report);
      if (fromTheStart) arrange(a);
      await replicas.clock.advance(1_000);
      const b = replicas.start('b', report);
      await replicas.clock.advance(8_000);
      if (!fromTheStart) arrange(a);
      await replicas.clock.advance(36_000);

      expect([...startsOf(a, b), ...reportsOf(b)].filter((line) => /\b10\b/.test(line))).toEqual(becomes);
      const [ledAt = Infinity] = ledAtMs(b);
      expect(ledAt).toBeGreaterThanOrEqual(otherLeadsAtMs);
      expect(ledAt).toBeLessThan(otherLeadsAtMs + 50);
      // and each of the others is started once, or reported
      for (const due of [20, 30, 40]) {
        expect(startsOf(a, b).filter((line) => line.includes(` ${String(due)} `))).toHaveLength(1);
      }
      expect(reportsOf(a, b).filter((line) => !becomes.includes(line))).toEqual([]);
    },
  );
});

describe.each(['paused', 'suspended'] as const)('A leader whose host is %s for longer than its lock lives', (how) => {
  const replicas = useReplicas();

  it('starts nothing when it continues, and aborts its run in flight', async () => {
    const runs: JobRun[] = [];
    const a = replicas.start('a', ({ clock }) => busy(clock, runs));
    const b = replicas.start('b', ({ clock }) => busy(clock));
    await replicas.clock.advance(7_000);
    const inFlight = runs.at(-1);
    a.clock.halt(how);
    await replicas.clock.advance(60_000);
    const startedBefore = a.observer.of('runStarted').length;
    const [ledAt = Infinity] = ledAtMs(b);
    expect(ledAt).toBeLessThan(6_000 + LOCK_EXPIRY_MS + 50);

    expect(inFlight?.signal.aborted).toBe(false);
    expect(() => inFlight?.assertLeader()).toThrow(LeaseLostError);
    a.clock.resume();
    // paused: at once; suspended: with the answer to the next heartbeat
    await replicas.clock.advance(how === 'paused' ? 1 : 3_000);
    expect(inFlight?.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(a.observer.of('runCancelled').at(-1)).toMatchObject({ code: 'LEASE_LOST' });
    await replicas.clock.advance(60_000);
    expect(a.observer.of('runStarted')).toHaveLength(startedBefore);
    expect(a.observer.of('leadershipLost')).toHaveLength(1);
  });

  it('starts no occurrence whose claim is answered too late; the next leader reports it', async () => {
    const a = replicas.start('a', report);
    const b = replicas.start('b', report);
    await replicas.clock.advance(9_500);
    a.store.outcome = (request) => {
      if (request === 'claim') a.clock.halt(how);
      return 'answered';
    };
    await replicas.clock.advance(30_000);
    a.store.outcome = () => 'answered';
    a.clock.resume();
    await replicas.clock.advance(30_000);
    expect(reportsOf(a, b)).toEqual(['b missed (0, 10] start-not-confirmed']);
    expect(startsOf(a, b)).toEqual([20, 30, 40, 50, 60].map((due) => `b started ${String(due)} schedule`));
  });

  it('does not lead by an old grant that is answered when it continues', async () => {
    const a = replicas.start('a', report);
    a.store.outcome = (request) => {
      if (request === 'acquire' && a.store.count('acquire') === 1) a.clock.halt(how);
      return 'answered';
    };
    await replicas.clock.advance(100);
    const b = replicas.start('b', report);
    await replicas.clock.advance(25_000);
    a.clock.resume();
    await replicas.clock.advance(20_000);
    expect(a.observer.of('leadershipGained')).toEqual([]);
    expect(a.observer.of('runStarted')).toEqual([]);
    expect(b.observer.of('leadershipLost')).toEqual([]);
    expect(ledAtMs(b)).toHaveLength(1);
  });
});
