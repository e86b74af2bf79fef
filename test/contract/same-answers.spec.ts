import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  type HeartbeatResult,
  type LockStore,
  type StateUpdate,
} from '../../libs/singleton-job/src/store/lock-store.js';
import { InMemoryLockStore } from '../../libs/singleton-job/src/store/memory/in-memory-store.js';
import { ManualClock, TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { LONG_MS } from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { NO_STATE, PostgresFixture } from './postgres-fixture.js';
import { RedisFixture } from './redis-fixture.js';

/** What a request knows of the last heartbeat: all of it, something else, or nothing. */
type Known = 'all' | 'other' | 'nothing';

type Step =
  | {
      readonly kind: 'heartbeat';
      readonly sessions: readonly Kept[];
      readonly known: Known;
      /** Another server has taken over, with the same data. */
      readonly isAfterRestart: boolean;
      /** The clock was set back since the last heartbeat. */
      readonly isAfterStepBack: boolean;
    }
  | { readonly kind: 'endSession'; readonly session: Kept }
  | {
      readonly kind: 'acquire';
      readonly holder: string;
      readonly seenToken: number;
      readonly endedSession: string | undefined;
      readonly heartbeat: Known;
      readonly state: Known;
      readonly notBefore: number;
      readonly isFirstStart: boolean;
    }
  | { readonly kind: 'renew' | 'release'; readonly holder: string; readonly update: StateUpdate }
  | {
      readonly kind: 'claim';
      readonly holder: string;
      readonly update: StateUpdate;
      readonly token: number;
      readonly scheduledAt: number;
    }
  | { readonly kind: 'setPaused'; readonly isPaused: boolean }
  | { readonly kind: 'occupy'; readonly holder: string }
  | { readonly kind: 'freeLock' | 'loseState' | 'loseSessions' | 'loseData' };

/** Instants are relative to the beginning of the sequence, so that they meet. */
interface Kept {
  readonly id: string;
  readonly lockExpiryMs: number;
  readonly confirmedEnd: number | undefined;
}

/** A time after that of each sequence. */
const LATER = 5_000_000_000_000;
const REPLICAS = [['a.1@600000', 'a.2@20'], ['b.1@600000'], ['eu.1@b.1@20', 'eu.1@b.2@3600000']];
const SESSIONS = REPLICAS.flat();
const holder = fc.constantFrom(
  'a.1@600000#1',
  'a.1@600000#2',
  'a.1@600000#10',
  'b.1@600000#1',
  'eu.1@b.1@20#3',
  'a#1',
  'else',
);
const offset = fc.integer({ min: -50, max: 50 }).map((n) => n * 10);
/** Of runs: a time in the future is cut to now, and the stores read their clocks one after the other. */
const longAgo = fc.oneof(offset, fc.constant(0.4)).map((at) => at - 864_000_000);
const known = fc.constantFrom<Known>('all', 'all', 'other', 'nothing');
const confirmedEnd = fc.oneof(offset, fc.constantFrom(-60_000, -80_000, -8_000_000));
const keptSession = (ids: readonly string[]): fc.Arbitrary<Kept> =>
  fc.record({
    id: fc.constantFrom(...ids),
    lockExpiryMs: fc.constantFrom(20, 600_000),
    confirmedEnd: fc.option(confirmedEnd, { nil: undefined }),
  });
const sessionsOfReplica = fc
  .constantFrom(...REPLICAS)
  .chain((ids) => fc.uniqueArray(keptSession(ids), { selector: ({ id }) => id, minLength: 1, maxLength: 2 }));
const endedSession = fc.record({
  id: fc.constantFrom(...SESSIONS, 'not a session'),
  lockExpiryMs: fc.constant(20),
  confirmedEnd,
});
const update = fc.record(
  {
    claimed: offset,
    handled: offset,
    slot: offset,
    runStartedAt: longAgo,
    runEndedAt: longAgo,
    schedule: fc.constantFrom('x', 'x', 'y'),
    lastRun: fc.constantFrom('01 a', '02 b', '03 c'),
  },
  { requiredKeys: [] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('heartbeat' as const),
      sessions: sessionsOfReplica,
      known,
      isAfterRestart: fc.constantFrom(false, false, false, true),
      isAfterStepBack: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('endSession' as const), session: endedSession }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('acquire' as const),
      holder,
      seenToken: fc.constantFrom(0, 0, 0, 1, 1_000),
      endedSession: fc.option(fc.constantFrom(...SESSIONS), { nil: undefined }),
      heartbeat: known,
      state: known,
      notBefore: fc.constantFrom(-100_000, -100_000, -100_000, 100_000),
      isFirstStart: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('renew' as const, 'release' as const), holder, update }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      holder,
      update,
      token: fc.constantFrom(1, 2),
      scheduledAt: fc.constantFrom(-100, 0, 100, 200, 30_000, 90_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('setPaused' as const),
      isPaused: fc.constantFrom(true, false, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('occupy' as const), holder }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('freeLock', 'loseState', 'loseSessions', 'loseData' as const) }),
  },
);

/** Some requests arrive twice, as those do whose answer was lost. */
const sequence = (minLength: number): fc.Arbitrary<Step[]> =>
  fc
    .array(fc.tuple(step, fc.constantFrom(1, 1, 2)), { minLength, maxLength: 30 })
    .map((steps) => steps.flatMap(([taken, times]) => Array.from({ length: times }, () => taken)));

/** Sends the steps of one sequence to one store, with what its own earlier answers say. */
class Replica {
  #heartbeat: HeartbeatResult | undefined;
  #stateCreatedAt: number | undefined;

  constructor(
    readonly store: LockStore,
    readonly begin: number,
  ) {}

  async send(taken: Step): Promise<Answer | undefined> {
    const answer = await this.#send(taken);
    if (answer !== undefined && 'serverSince' in answer) this.#heartbeat = answer;
    if (answer !== undefined && 'granted' in answer) this.#stateCreatedAt = answer.stateCreatedAt;
    return answer;
  }

  #send(taken: Step): Promise<Answer | undefined> {
    const { store } = this;
    switch (taken.kind) {
      case 'heartbeat':
        return store.heartbeat({
          sessions: taken.sessions.map((one) => this.#kept(one)),
          knownList: this.#list(taken.known),
        });
      case 'endSession':
        return store.endSession(this.#kept(taken.session)).then(() => undefined);
      case 'acquire': {
        const { holder: by, seenToken, endedSession, notBefore, isFirstStart } = taken;
        return store.acquire({
          name: 'job',
          holder: by,
          lifeMs: LONG_MS,
          seenToken: seenToken === 0 ? 0 : this.#at(seenToken),
          endedSession,
          heartbeat: this.#reference(taken.heartbeat),
          knownServerId: undefined,
          knownStateCreatedAt: this.#knownStateCreatedAt(taken.state),
          notBefore: this.#at(notBefore),
          isFirstStart,
          stateLifeMs: undefined,
        });
      }
      case 'renew':
        return store.renew({
          name: 'job',
          holder: taken.holder,
          lifeMs: LONG_MS,
          update: this.#placed(taken.update),
          stateLifeMs: LONG_MS,
        });
      case 'claim': {
        const { holder: by, token, scheduledAt } = taken;
        const common = { name: 'job', holder: by, lifeMs: LONG_MS, token, update: this.#placed(taken.update) };
        return store.claim({ ...common, scheduledAt: this.#at(scheduledAt) });
      }
      case 'release':
        return store.release({ name: 'job', holder: taken.holder, token: 0, update: this.#placed(taken.update) });
      case 'setPaused':
        return store.setPaused({ name: 'job', isPaused: taken.isPaused });
      case 'occupy':
      case 'freeLock':
      case 'loseState':
      case 'loseSessions':
      case 'loseData':
        return Promise.resolve(undefined);
    }
  }

  #at(relative: number): number {
    return this.begin + relative;
  }

  #kept({ confirmedEnd, ...session }: Kept) {
    return { ...session, confirmedEnd: confirmedEnd === undefined ? undefined : this.#at(confirmedEnd) };
  }

  #placed({ claimed, handled, slot, runStartedAt, runEndedAt, schedule }: StateUpdate): StateUpdate {
    const at = (relative: number | undefined) => (relative === undefined ? undefined : this.#at(relative));
    return {
      claimed: at(claimed),
      handled: at(handled),
      slot: at(slot),
      runStartedAt: at(runStartedAt),
      runEndedAt: at(runEndedAt),
      schedule,
    };
  }

  #list(what: Known) {
    const last = this.#heartbeat;
    if (last === undefined || what === 'nothing') return undefined;
    const { serverSince, version } = last;
    return { serverSince, version: what === 'all' ? version : version - 1 };
  }

  #reference(what: Known) {
    const last = this.#heartbeat;
    if (last === undefined || what === 'nothing') return undefined;
    return { serverId: last.serverId, serverSince: what === 'all' ? last.serverSince : last.serverSince - 1 };
  }

  #knownStateCreatedAt(what: Known): number | undefined {
    if (this.#stateCreatedAt === undefined || what === 'nothing') return undefined;
    return what === 'all' ? this.#stateCreatedAt : this.#stateCreatedAt - 1;
  }
}

type Answer = Awaited<ReturnType<LockStore['acquire' | 'renew' | 'claim' | 'release' | 'setPaused']>> | HeartbeatResult;

/** A store on a server, and the faults of a sequence. */
interface Served extends AsyncDisposable {
  readonly store: LockStore;
  /** The time of the server. */
  now(): Promise<number>;
  interfere(taken: Step): Promise<void>;
  /** The numbers of the state, by their names. */
  state(): Promise<Record<string, unknown>>;
}

async function onRedis(): Promise<Served> {
  const fixture = await RedisFixture.start();
  const { raw } = fixture;
  const projectName = `p-${randomUUID()}`;
  const lock = `${projectName}:job:lock`;
  const state = `{${lock}}:state`;
  const sessions = `{${projectName}:sessions}`;
  return {
    store: (await fixture.connect({ projectName })).store,
    now: async () => {
      const [seconds, micros] = await raw.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    interfere: async (taken) => {
      const isMet = (await raw.hexists(`${sessions}:server`, 'seen')) === 1;
      if (taken.kind === 'heartbeat' && taken.isAfterRestart) await raw.hset(`${sessions}:server`, 'runId', 'another');
      if (taken.kind === 'heartbeat' && taken.isAfterStepBack && isMet)
        await raw.hset(`${sessions}:server`, 'seen', LATER);
      if (taken.kind === 'occupy') await raw.set(lock, taken.holder);
      if (taken.kind === 'freeLock') await raw.del(lock);
      if (taken.kind === 'loseState') await raw.del(state);
      if (taken.kind === 'loseSessions') await raw.del(sessions);
      if (taken.kind === 'loseData') await raw.del(lock, state, sessions, `${sessions}:server`);
    },
    state: () => raw.hgetall(state),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

async function onPostgres(): Promise<Served> {
  const fixture = await PostgresFixture.start();
  const projectName = `p-${randomUUID()}`;
  const { store } = await fixture.connect({ projectName });
  const raw = await fixture.client();
  const run = async (sql: string, ...values: unknown[]) =>
    (await raw.query<Record<string, unknown>>(sql.replaceAll('FROM ', 'FROM singleton_job.'), values)).rows;
  const inProject = (sql: string, ...values: unknown[]) => run(`${sql} project = '${projectName}'`, ...values);
  const servers = 'UPDATE singleton_job.servers SET';
  return {
    store,
    now: async () => Number((await raw.query<{ now: string }>('SELECT singleton_job.now_1() AS now')).rows[0]?.now),
    interfere: async (taken) => {
      if (taken.kind === 'heartbeat' && taken.isAfterRestart)
        await inProject(`${servers} server_id = 'another' WHERE server_id IS NOT NULL AND`);
      if (taken.kind === 'heartbeat' && taken.isAfterStepBack)
        await inProject(
          `UPDATE singleton_job.sessions SET seen = $1
          WHERE project IN (SELECT project FROM servers WHERE server_id IS NOT NULL) AND`,
          LATER,
        );
      if (taken.kind === 'occupy')
        await run(
          `INSERT INTO singleton_job.locks (project, name, holder) VALUES ('${projectName}', 'job', $1)
          ON CONFLICT (project, name) DO UPDATE SET holder = excluded.holder, expires_at = NULL`,
          taken.holder,
        );
      if (taken.kind === 'freeLock')
        await inProject('UPDATE singleton_job.locks SET holder = NULL, expires_at = NULL WHERE');
      if (taken.kind === 'loseState') await inProject(`UPDATE singleton_job.locks SET ${NO_STATE} WHERE`);
      if (taken.kind === 'loseSessions' || taken.kind === 'loseData') await inProject('DELETE FROM sessions WHERE');
      if (taken.kind === 'loseData')
        for (const table of ['servers', 'locks']) await inProject(`DELETE FROM ${table} WHERE`);
    },
    state: async () => {
      const [row = {}] = await inProject('SELECT * FROM locks WHERE');
      const { created_at: createdAt, run_started_at: runStartedAt, run_ended_at: runEndedAt, ...others } = row;
      const fields = { ...others, createdAt, runStartedAt, runEndedAt };
      return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    },
    [Symbol.asyncDispose]: async () => {
      await raw.end();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ['Redis', onRedis],
  ['PostgreSQL', onPostgres],
])('%s and memory', (_name, start) => {
  let served: Served;

  beforeAll(async () => {
    served = await start();
  });

  afterAll(async () => {
    await served[Symbol.asyncDispose]();
  });

  it('answer every sequence of requests in the same way, and late requests lower nothing', async () => {
    await fc.assert(
      fc.asyncProperty(sequence(1), async (steps) => {
        await served.interfere({ kind: 'loseData' });
        const begin = await served.now();
        const clock = new ManualClock(begin);
        const server = new SteppedServer(clock);
        const [one, two] = [new Replica(served.store, begin), new Replica(new InMemoryLockStore(server), begin)];
        let before: Record<string, unknown> = {};
        for (const taken of steps) {
          await served.interfere(taken);
          interfereInMemory(server, taken);
          const answer = await one.send(taken);
          // the other store takes the step at the very same time
          if (answer !== undefined) clock.stepWall(answer.storeTime - clock.wallNow());
          expect(comparable(await two.send(taken))).toEqual(comparable(answer));
          const after = await served.state();
          if (taken.kind !== 'loseData' && taken.kind !== 'loseState') expectNothingLowered(before, after);
          before = after;
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('The steps', () => {
  it('are compared on sequences that meet every kind of answer', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(sequence(20), async (steps) => {
        const clock = new ManualClock(100_000_000);
        const server = new SteppedServer(clock);
        const replica = new Replica(new InMemoryLockStore(server), clock.wallNow());
        for (const taken of steps) {
          interfereInMemory(server, taken);
          const before = server.holderOf('job');
          const answer = await replica.send(taken);
          for (const kind of kindsOf(answer)) seen.add(kind);
          if (answer && 'granted' in answer && answer.granted && before !== undefined) {
            seen.add(server.holderOf('job') === before ? 'granted again' : 'taken over');
          }
          clock.stepWall(1);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
    const sessionKinds = ['extended', 'listed-again', 'ended', 'whole list', 'changes', 'no changes', 'next end'];
    const lockKinds = ['granted', 'granted again', 'taken over', 'held', 'too-early', 'outdated', 'ttl restored'];
    const others = ['renewed', 'lost', 'released', 'not released', 'claimed', 'already-ours', 'taken', 'not-leader'];
    const pauseKinds = ['is paused', 'is not paused', 'paused', 'renewed while paused'];
    expect([...seen].sort()).toEqual([...new Set([...sessionKinds, ...lockKinds, ...others, ...pauseKinds])].sort());
  });
});

/** A server whose clock seems to have been set back. */
class SteppedServer extends TestServer {
  seeLater(): void {
    const { server } = this.data;
    if (server !== undefined && server.seen > 0) this.data.server = { ...server, seen: LATER };
  }
}

function interfereInMemory(server: SteppedServer, taken: Step): void {
  if (taken.kind === 'heartbeat' && taken.isAfterRestart) server.restart(server.snapshot());
  if (taken.kind === 'heartbeat' && taken.isAfterStepBack) server.seeLater();
  if (taken.kind === 'occupy') server.occupy('job', taken.holder);
  if (taken.kind === 'freeLock') server.free('job');
  if (taken.kind === 'loseState') server.forget('job');
  if (taken.kind === 'loseSessions') server.loseSessions();
  if (taken.kind === 'loseData') server.loseData();
}

function kindsOf(answer: Answer | undefined): string[] {
  if (answer === undefined) return [];
  if ('outcome' in answer) return [answer.outcome];
  if ('held' in answer) {
    return [answer.held ? 'renewed' : 'lost', ...(answer.pausedAt === undefined ? [] : ['renewed while paused'])];
  }
  if ('released' in answer) return [answer.released ? 'released' : 'not released'];
  if ('granted' in answer) {
    if (answer.granted) return ['granted'];
    return [answer.reason, ...(answer.ttlRestored ? ['ttl restored'] : [])];
  }
  if (!('serverSince' in answer)) return [answer.pausedAt === undefined ? 'is not paused' : 'is paused'];
  const { changes, isWholeList, nextEnd, sessions } = answer;
  return [
    ...sessions.map(({ status }) => status),
    isWholeList ? 'whole list' : changes.size > 0 ? 'changes' : 'no changes',
    ...(nextEnd === undefined ? [] : ['next end']),
  ];
}

/**
 * A server has an id of its own, and PostgreSQL lets locks of sessions live longer. The end of a session does not say when it was
 * recorded, so the versions may differ. The changes of the list show that they grow together.
 */
function comparable(answer: Answer | undefined): object | undefined {
  if (answer === undefined) return undefined;
  if ('ttlMs' in answer) return { ...answer, ttlMs: answer.ttlMs > 0 };
  if (!('serverSince' in answer)) return answer;
  return {
    ...answer,
    version: 0,
    serverId: typeof answer.serverId,
    changes: Object.fromEntries(answer.changes),
  };
}

function expectNothingLowered(before: Record<string, unknown>, after: Record<string, unknown>): void {
  for (const field of ['token', 'createdAt', 'claimed', 'handled', 'slot', 'runStartedAt', 'runEndedAt']) {
    const [old, now] = [before[field], after[field]];
    if (old !== undefined) expect({ field, value: Number(now) >= Number(old) }).toEqual({ field, value: true });
  }
}
