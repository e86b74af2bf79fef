import { describe, expect, it } from '@jest/globals';
import { type LockStore } from '../../libs/singleton-job/src/store/index.js';
import { failureInWords, playInShards } from '../../tools/simulate/index.js';
import { drawPlan, play, playSeeds, type Sabotage, shrink, simulate } from './simulation.js';

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 3_000);
const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);

/** The rules that are broken within a few stories. */
async function brokenBy(sabotage: Sabotage): Promise<Set<string>> {
  const { failures } = await playSeeds({ first: 1, count: 15, staging: { sabotage } });
  return new Set(failures.map(({ rule }) => rule));
}

/** The store with some of its methods replaced. */
function worse(store: LockStore, methods: Partial<LockStore>): LockStore {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A store that lets everybody renew. */
const renewsForAll: Sabotage = (store) =>
  worse(store, { renew: async () => ({ held: true, time: Date.UTC(2027, 0, 1) }) });

describe('Under random faults of network, clocks, processes and Redis', () => {
  it(`every rule is kept in ${SEEDS} stories from seed ${FIRST_SEED} on`, async () => {
    const { failures, stories, runs } = await playInShards({ first: FIRST_SEED, count: SEEDS });
    expect(failures.slice(0, 5).map(failureInWords).join('\n\n')).toBe('');
    expect(stories).toBe(SEEDS);
    expect(runs).toBeGreaterThan(SEEDS * 25);
  }, 900_000);

  it('a failure says how its story is found again', () => {
    const failure = { seed: 7, rule: 'two-leaders', evidence: 'two at once' } as const;
    expect(failureInWords(failure)).toMatch(/^seed 7 breaks 'two-leaders':\ntwo at once\n.*--shrink 7$/);
  });

  it('what a story needs to break a rule is found, and no more', async () => {
    const staging = { sabotage: renewsForAll };
    const plan = drawPlan(1);
    const [violation] = (await play(plan, staging)).violations;
    const rule = violation?.rule ?? 'two-leaders';
    const { faults } = await shrink(plan, rule, staging);
    const isBrokenBy = async (some: typeof faults): Promise<boolean> =>
      (await play({ ...plan, faults: some }, staging)).violations.some((other) => other.rule === rule);
    expect(faults.length).toBeLessThan(plan.faults.length);
    expect(await isBrokenBy(faults)).toBe(true);
    for (const [index] of faults.entries()) expect(await isBrokenBy(faults.toSpliced(index, 1))).toBe(false);
  });

  it('one seed tells one story', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });

  it('a story is the same in a process that does nothing but play', async () => {
    const seeds = { first: 1, count: 10 };
    expect(await playInShards(seeds)).toEqual(await playSeeds(seeds));
  });
});

describe('The rules notice', () => {
  it('a store that lets everybody renew: a run starts under an ended lease', async () => {
    expect(await brokenBy(renewsForAll)).toContain('ended-lease');
  });

  it('a store that forgets a lock too early: two replicas run a job at the same time', async () => {
    const sabotage: Sabotage = (store) =>
      worse(store, {
        acquire: (bid) => store.acquire({ ...bid, lockExpiryMs: bid.lockExpiryMs / 2 }),
        renew: (renewal) => store.renew({ ...renewal, lockExpiryMs: renewal.lockExpiryMs / 2 }),
      });
    expect(await brokenBy(sabotage)).toContain('two-leaders');
  });

  it('a store that claims what was claimed before: an occurrence starts twice', async () => {
    const sabotage: Sabotage = (store) =>
      worse(store, {
        claim: async (claim) => {
          const answer = await store.claim(claim);
          return answer.outcome === 'taken' ? { ...answer, outcome: 'claimed', last: claim.scheduledAt } : answer;
        },
        // and forgets what was claimed when the leader changes
        acquire: async (bid) => {
          const answer = await store.acquire(bid);
          return answer.granted ? { ...answer, last: answer.last - 20_000, ran: answer.last - 20_000 } : answer;
        },
      });
    expect(await brokenBy(sabotage)).toContain('started-twice');
  });
});
