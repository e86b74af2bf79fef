import { describe, expect, it } from '@jest/globals';
import { lockExpiryOf } from '../../libs/singleton-job/src/store/lock-store.js';
import { type TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { failureInWords, playInShards } from './command/index.js';
import { type Rule } from './history.js';
import { LOCK } from './simulated-locks.js';
import { drawPlan, play, playSeeds, type ServerMutation, shrink, simulate } from './simulation.js';

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 100);
const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);

const MOST_STORIES = 100;
/** The first scenario in which sessions that end too early let two runs go on. The search begins here, because it would last 10 s from 1 on. */
const TWO_RUNS_SEED = 54;

/** The rules among `wanted` that no scenario from seed `first` on breaks. Ends with the scenario that breaks the last one. */
async function unbroken(mutate: ServerMutation, wanted: readonly Rule[], first = 1): Promise<readonly Rule[]> {
  const missing = new Set(wanted);
  for (let seed = first; seed < first + MOST_STORIES && missing.size > 0; seed++) {
    const { failures } = await playSeeds({ first: seed, count: 1, options: { mutate } });
    for (const { rule } of failures) missing.delete(rule);
  }
  return [...missing];
}

/** The server with some of its steps replaced. */
function worse(server: TestServer, steps: Partial<TestServer>): TestServer {
  return new Proxy(server, {
    get: (target, key) => {
      const value: unknown = Reflect.get(steps, key) ?? Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A server that reports a session as ended after half of its life. */
const endsTooEarly: ServerMutation = (server) =>
  worse(server, {
    heartbeat: (request) => {
      const result = server.heartbeat(request);
      const early = [...server.heartbeat({ sessions: [], knownList: undefined }).changes].map(
        ([id, { hasEnded, end }]) =>
          [id, { hasEnded: hasEnded || end < result.storeTime + lockExpiryOf(id) / 2, end }] as const,
      );
      return { ...result, changes: new Map(early), isWholeList: true };
    },
  });

describe('Under random faults of network, clocks, processes and Redis', () => {
  it(`every rule is kept in ${SEEDS} scenarios from seed ${FIRST_SEED} on`, async () => {
    const { failures, scenarios, runs } = await playInShards({ first: FIRST_SEED, count: SEEDS });
    expect(failures.slice(0, 5).map(failureInWords).join('\n\n')).toBe('');
    expect(scenarios).toBe(SEEDS);
    expect(runs).toBeGreaterThan(SEEDS * 25);
  });

  it('a failure prints the command that repeats its scenario', () => {
    const failure = { seed: 7, rule: 'two-leaders', evidence: 'two at once' } as const;
    expect(failureInWords(failure)).toMatch(/^seed 7 breaks 'two-leaders':\ntwo at once\n.*--shrink 7$/);
  });

  it('a failed scenario is reduced to the events that it needs', async () => {
    const options = { mutate: endsTooEarly };
    const plan = drawPlan(19);
    const [violation] = (await play(plan, options)).violations;
    const rule = violation?.rule ?? 'two-leaders';
    const { faults } = await shrink(plan, rule, options);
    const isBrokenBy = async (some: typeof faults): Promise<boolean> =>
      (await play({ ...plan, faults: some }, options)).violations.some((other) => other.rule === rule);
    expect(faults.length).toBeLessThan(plan.faults.length);
    expect(await isBrokenBy(faults)).toBe(true);
    for (const [index] of faults.entries()) expect(await isBrokenBy(faults.toSpliced(index, 1))).toBe(false);
  });

  it('one seed gives one scenario', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });

  it('a heartbeat thread keeps the leases of a blocked replica, and without one they are lost', async () => {
    const plan = drawPlan(1);
    const isAnyLost = async (hasThread: boolean): Promise<boolean> => {
      const lines: string[] = [];
      const setting = { ...plan.setting, threads: plan.clocks.map(() => hasThread) };
      const faults = plan.clocks.map((_, place) => ({ kind: 'block', atMs: 15_000, place, forMs: 15_000 }) as const);
      await play({ ...plan, setting, faults }, { print: (line) => lines.push(line) });
      return lines.some((line) => line.includes('leadershipLost'));
    };
    expect([await isAnyLost(true), await isAnyLost(false)]).toEqual([false, true]);
  });

  it('a scenario is the same in another process', async () => {
    const seeds = { first: 1, count: 4 };
    expect(await playInShards(seeds)).toEqual(await playSeeds(seeds));
  });
});

describe('The rules notice', () => {
  it('a server that ends sessions too early: two lead, and two runs go on', async () => {
    expect(await unbroken(endsTooEarly, ['two-leaders', 'two-runs'], TWO_RUNS_SEED)).toEqual([]);
  });

  it('a server that confirms every renewal: runs start although another replica has the lock', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, { renew: (request) => ({ ...server.renew(request), held: true, holder: request.holder }) });
    expect(await unbroken(mutate, ['ended-lease'])).toEqual([]);
  });

  it('a server that lists no session as ended: no replica leads after a death', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, {
        heartbeat: (request) => {
          const result = server.heartbeat(request);
          const changes = [...result.changes].map(([id, session]) => [id, { ...session, hasEnded: false }] as const);
          return { ...result, changes: new Map(changes) };
        },
      });
    expect(await unbroken(mutate, ['no-leader'])).toEqual([]);
  });

  it('a server that grants a claim twice: an occurrence starts twice', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, {
        claim: (request) => {
          const result = server.claim(request);
          if (result.outcome !== 'taken') return result;
          return { ...result, outcome: 'claimed', claimed: request.scheduledAt };
        },
        // and forgets what was claimed when the leader changes
        acquire: (request) => {
          const result = server.acquire(request);
          const claimed = (result.claimed ?? 0) - 20_000;
          return { ...result, claimed, handled: claimed };
        },
      });
    expect(await unbroken(mutate, ['started-twice'])).toEqual([]);
  });

  it('a server that takes each claim for a run that has begun: an occurrence is neither started nor reported', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, {
        acquire: (request) => {
          const result = server.acquire(request);
          return { ...result, handled: result.claimed };
        },
      });
    expect(await unbroken(mutate, ['occurrence-lost'])).toEqual([]);
  });

  it('a server that frees a lock of LockService for each request: two hold it', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, {
        acquire: (request) => {
          if (request.name === LOCK) server.free(LOCK);
          return server.acquire(request);
        },
      });
    expect(await unbroken(mutate, ['two-leaders'])).toEqual([]);
  });

  it('a server that keeps a released lock: no other replica leads at once', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, {
        release: (request) => ({ ...server.release({ ...request, holder: 'another' }), released: true }),
      });
    expect(await unbroken(mutate, ['no-hand-over'])).toEqual([]);
  });

  it('a server that forgets when runs ended: an interval job runs too early', async () => {
    const mutate: ServerMutation = (server) =>
      worse(server, { acquire: (request) => ({ ...server.acquire(request), runEndedAt: undefined }) });
    expect(await unbroken(mutate, ['run-too-early'])).toEqual([]);
  });
});
