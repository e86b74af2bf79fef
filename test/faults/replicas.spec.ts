import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SILENT, SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { type RedisServerOptions } from '../../tools/servers/redis-server.js';
import { FaultRun, JOBS, LOCK_EXPIRY_MS } from './support/fault-run.js';
import { HEARTBEAT_INTERVAL_MS, type InProcessReplica } from './support/in-process-replica.js';
import { KINDS, type Kind } from './support/place.js';

interface Fault {
  readonly name: string;
  /** @default both */
  readonly of?: Kind;
  readonly redis?: RedisServerOptions;
}

/**
 * Seconds longer than each harmless fault, also on a busy machine. So a replica that leads at once got the message of a
 * release.
 */
const LASTING_MS = 20_000;
/** Its run lasts through a fault. */
const LASTING_JOB = 'heartbeat';
/** So long that a term has written its records again. */
const REWRITTEN_MS = 11_000;

interface Harmless extends Fault {
  readonly happen: (run: FaultRun) => unknown;
  /** How many of them may be logged. @default 1 */
  readonly outages?: number;
}

const HARMLESS: readonly Harmless[] = [
  { name: 'ends all connections', happen: ({ place }) => place.run(place.commands.end) },
  {
    name: 'cannot be reached for a moment',
    happen: async (run) => {
      run.everywhere((network) => network.freeze());
      await delay(700);
      run.everywhere((network) => network.thaw());
    },
    outages: 0,
  },
  {
    name: 'answers slowly',
    happen: async (run) => {
      for (const network of run.networks) network.answerDelayMs = 400;
      await run.goesOn();
      await run.goesOn();
      for (const network of run.networks) network.answerDelayMs = 0;
    },
    outages: 0,
  },
  {
    name: 'is killed and starts again with all its data',
    redis: { appendOnly: true },
    happen: async ({ place: { server } }) => {
      await server.kill();
      await server.up();
    },
  },
  {
    name: 'is killed and starts again without its data',
    of: 'Redis',
    happen: async ({ place: { server } }) => {
      await server.kill();
      await server.up();
    },
  },
  {
    name: 'goes back to an old snapshot',
    happen: async ({ place }) => {
      const restore = await place.snapshot();
      await delay(REWRITTEN_MS);
      await restore();
    },
    outages: 2,
  },
  {
    name: 'fails over to a copy without the last seconds',
    happen: async (run) => {
      const copy = await run.copy();
      copy.cutOff();
      await delay(REWRITTEN_MS);
      await copy.promote();
      run.everywhere((network) => network.redirect(copy.port));
    },
  },
];

interface Outage extends Fault {
  readonly begin: (run: FaultRun) => unknown;
  readonly end: (run: FaultRun) => unknown;
  /** The text of its one log line. */
  readonly says: RegExp;
  /** How soon after its end jobs go on. @default 2500 */
  readonly backMs?: number;
}

/** The end of a connection, and the error of a request, depend on what was under way and in which direction. */
const CUT_OFF = /closed|ECONN|EPIPE|terminat|not connected/;
/** It is another incarnation then, so replicas wait for leases of before; a PostgreSQL also takes seconds to start. */
const RESTARTED_MS = LOCK_EXPIRY_MS + 5_000;

const OUTAGES: readonly Outage[] = [
  {
    name: 'cannot be reached',
    begin: (run) => run.everywhere((network) => network.freeze()),
    end: (run) => run.everywhere((network) => network.thaw()),
    says: SILENT,
  },
  {
    name: 'resets each connection',
    begin: (run) => run.everywhere((network) => network.refuse()),
    end: (run) => run.everywhere((network) => network.accept()),
    says: CUT_OFF,
    backMs: 1_000,
  },
  {
    name: 'is down, and keeps its data',
    begin: ({ place }) => place.server.down(),
    end: ({ place }) => place.server.up(),
    says: CUT_OFF,
    backMs: RESTARTED_MS,
  },
  {
    name: 'is killed, and loses its data',
    of: 'Redis',
    begin: ({ place }) => place.server.kill(),
    end: ({ place }) => place.server.up(),
    says: CUT_OFF,
    backMs: RESTARTED_MS,
  },
  {
    name: 'has no disk left',
    of: 'PostgreSQL',
    begin: ({ place }) => {
      const full = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'";
      return place.run(
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${full}; END $$`,
        ...['leases', 'records'].map(
          (table) =>
            `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON singleton_job.${table} EXECUTE FUNCTION full_disk()`,
        ),
      );
    },
    end: ({ place }) => place.run('DROP FUNCTION full_disk CASCADE'),
    says: /No space left on device/,
  },
];

/** So long that a leader keeps its lease on a busy machine. */
const LONG_MS = 10_000;

const tokensOf = ({ observer }: InProcessReplica): number[] =>
  observer.of('leadershipGained').map(({ fencingToken }) => fencingToken);
const reasonsOf = ({ observer }: InProcessReplica): Set<string> =>
  new Set(observer.of('leadershipLost').map(({ reason }) => reason));

describe.each(KINDS)('two replicas on a %s that', (kind) => {
  const ofKind = <T extends Fault>(faults: readonly T[]): T[] => faults.filter(({ of = kind }) => of === kind);

  it.concurrent.each(ofKind(HARMLESS))(
    '$name: they change no leader and abort no run, however long, and messages arrive as before',
    async ({ redis, happen, outages = 1 }) => {
      await using run = await FaultRun.start(kind, { redis, lockExpiryMs: LASTING_MS });
      const { leader, follower } = run;
      const lasting = await run.lasts(LASTING_JOB);
      const from = run.replicas.map(({ lines }) => lines.length);
      const begunMs = performance.now();
      await happen(run);
      await run.goesOn({ withinMs: LASTING_MS });
      await run.until('both get messages', () => run.replicas.every(({ isListening }) => isListening));
      expect(run.runs.filter(({ job, endedAtMs }) => job === LASTING_JOB && endedAtMs > begunMs)).toEqual([lasting]);
      run.lasting = undefined;
      await run.goesOn();
      for (const [index, { observer, lines }] of run.replicas.entries()) {
        const since = observer.events.filter(({ atMs }) => atMs > begunMs);
        expect(since.filter(({ event }) => /^leadership|^run(Failed|Cancelled|Interrupted)/.test(event))).toEqual([]);
        const warnings = lines.slice(from[index]).filter((line) => /^(warn|error): /.test(line) && !SILENT.test(line));
        expect(warnings.length > outages ? warnings : []).toEqual([]);
      }

      await leader.pool.stop();
      await run.followerLeads(7_000);
      expect(follower.observer.of('leadershipGained')).toHaveLength(JOBS.length);
      expect(run.violations()).toEqual([]);
    },
  );

  it.concurrent.each(ofKind(OUTAGES))(
    '$name: they run nothing from their deadlines to its end, and log it once',
    async ({ redis, begin, end, says, backMs = 2_500 }) => {
      await using run = await FaultRun.start(kind, { redis });
      const { leader, follower } = run;
      const from = run.replicas.map(({ lines }) => lines.length);
      const since = () => run.replicas.map(({ lines }, index) => lines.slice(from[index]));
      await begin(run);
      const isOver = () => leader.leads.size === 0;
      await run.until('every term is over', isOver, { withinMs: LOCK_EXPIRY_MS + SLACK_MS });
      const overMs = performance.now();
      await run.until('both say so', () => since().every((lines) => lines.some((line) => says.test(line))));
      // no other replica leads when the leases have ended
      await delay(LOCK_EXPIRY_MS / 2);
      const endsMs = performance.now();
      await end(run);
      await run.goesOn({ withinMs: backMs + SLACK_MS });
      const countOf = (lines: readonly string[], text: string) => lines.filter((line) => line.includes(text)).length;
      await run.until('both say that it is over', () =>
        since().every((lines) => countOf(lines, 'is unavailable') === countOf(lines, 'is available again')),
      );

      expect(run.violations()).toEqual([]);
      expect(run.runs.filter(({ startedAtMs }) => startedAtMs > overMs && startedAtMs < endsMs)).toEqual([]);
      expect(reasonsOf(leader)).toEqual(new Set(['expired']));
      expect(reasonsOf(follower)).toEqual(new Set());
      for (const lines of since()) {
        const errors = lines.filter((line) => line.startsWith('error: '));
        // a busy machine may be slow to answer for a moment, before or after
        expect(errors.filter((line) => !says.test(line) && !SILENT.test(line))).toEqual([]);
        const isFirst = (line: string): boolean => !SILENT.test(line) && !/ still | has been /.test(line);
        expect(errors.filter(isFirst).slice(1)).toEqual([]);
      }
    },
  );

  it.concurrent.each([
    { name: 'silently', cut: 'freeze', repair: 'thaw' },
    { name: 'with resets', cut: 'refuse', repair: 'accept' },
  ] as const)(
    'only the leader cannot reach, $name: it stops before the other one runs, and follows later',
    async ({ cut, repair }) => {
      await using run = await FaultRun.start(kind);
      const { leader, follower, networks } = run;
      networks[0][cut]();
      await run.followerLeads(LOCK_EXPIRY_MS + 1_000 + SLACK_MS);
      await run.goesOn();
      expect(reasonsOf(leader)).toEqual(new Set(['expired']));

      // requests that were under way arrive now, long after their sender gave up
      networks[0][repair]();
      await run.until('the first one is back', () => leader.observer.of('storeRecovered').length > 0);
      await run.goesOn();
      expect([leader.leads.size, follower.leads.size]).toEqual([0, JOBS.length]);
      expect(reasonsOf(follower)).toEqual(new Set());
      expect(run.violations()).toEqual([]);
    },
  );

  it.concurrent.each([
    { name: 'nothing runs: the other one leads after one heartbeat', kept: [], heartbeatMs: 6_000, heartbeats: 1 },
    { name: 'a run goes on: the rest after three', kept: [LASTING_JOB], heartbeatMs: 2_000, heartbeats: 3 },
  ])('loses the message of a stop, and $name', async ({ kept, heartbeatMs, heartbeats }) => {
    // a lease that is not revoked outlives the test, and each heartbeat reads one record of the three
    await using run = await FaultRun.start(kind, { lockExpiryMs: LASTING_MS, heartbeatIntervalMs: heartbeatMs });
    const { leader, follower } = run;
    for (const job of kept) await run.lasts(job);
    leader.store.publish = () => Promise.resolve();
    const closed = leader.pool.close();
    const isFree = () => follower.leads.size === JOBS.length - kept.length;
    await run.until('the follower leads the rest', isFree, { withinMs: heartbeats * heartbeatMs + SLACK_MS });
    expect([...leader.leads]).toEqual(kept);
    run.lasting = undefined;
    await closed;
    await run.followerLeads();
    expect(run.violations()).toEqual([]);
  });

  it.concurrent('goes on beside its promoted copy: each side has a leader, until it is gone', async () => {
    await using run = await FaultRun.start(kind, { lockExpiryMs: LONG_MS });
    const { leader, follower, networks, place } = run;
    const { splitMs, port } = await splitOff(run);
    await run.followerLeads(LONG_MS + 1_000 + SLACK_MS);
    await delay(LONG_MS);
    for (const replica of run.replicas) {
      expect(replica.leads.size).toBe(JOBS.length);
      expect(reasonsOf(replica)).toEqual(new Set());
      expect(run.violations({ of: replica, sinceMs: splitMs })).toEqual([]);
    }
    expect(Math.min(...tokensOf(follower))).toBeGreaterThan(Math.max(...tokensOf(leader)));

    await place.server.kill();
    networks[0].redirect(port);
    await run.until('the deposed leader knows', () => leader.leads.size === 0);
    const toldMs = performance.now();
    await run.goesOn();
    expect(follower.leads.size).toBe(JOBS.length);
    expect(run.violations({ sinceMs: toldMs })).toEqual([]);
  });
});

describe('a deposed Redis with min-replicas-to-write', () => {
  /** `min-replicas-max-lag` is in seconds, and Redis checks its copies once a second. */
  const REFUSED_MS = 3_000;

  it('refuses writes, so its terms end at their deadlines', async () => {
    await using run = await FaultRun.start('Redis');
    const { leader, follower } = run;
    const { splitMs } = await splitOff(run, 'CONFIG SET min-replicas-max-lag 1', 'CONFIG SET min-replicas-to-write 1');
    await run.followerLeads(LOCK_EXPIRY_MS + 1_000 + SLACK_MS);
    await run.until('the deposed leader gives up', () => leader.leads.size === 0, {
      withinMs: splitMs + REFUSED_MS + LOCK_EXPIRY_MS + SLACK_MS - performance.now(),
    });
    const aloneMs = performance.now();
    expect(reasonsOf(leader)).toEqual(new Set(['expired']));
    await run.goesOn();
    expect(follower.leads.size).toBe(JOBS.length);
    expect(run.violations({ sinceMs: aloneMs })).toEqual([]);
    // the last heartbeat of the refused leader was not copied, so its lease is valid for longer than the copy lives
    const timesOf = ({ observer }: InProcessReplica, event: string): number[] =>
      observer.events.filter((one) => one.event === event).map(({ atMs }) => atMs);
    const bothMs = Math.max(...timesOf(leader, 'leadershipLost')) - Math.min(...timesOf(follower, 'leadershipGained'));
    expect(bothMs).toBeLessThan(REFUSED_MS + HEARTBEAT_INTERVAL_MS + SLACK_MS);
  });
});

/** Promotes a copy, which only the follower reaches from now on. */
async function splitOff(run: FaultRun, ...settings: readonly string[]) {
  const copy = await run.copy();
  await run.place.run(...settings);
  await run.goesOn();
  const splitMs = performance.now();
  copy.cutOff();
  await copy.promote();
  run.networks[1].redirect(copy.port);
  return { splitMs, port: copy.port };
}
