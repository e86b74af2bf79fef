import { describe, expect, it } from '@jest/globals';
import { type LockStore } from '../../libs/singleton-job/src/lock/index.js';
import { failureInWords, playInShards } from '../../tools/simulate/index.js';
import { drawPlan, play, playSeeds, type Sabotage, shrink, simulate } from './simulation.js';

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 10_000);
const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);

/** The promises that are broken within a few stories. */
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

describe('Under random faults of network, clocks and processes', () => {
  it.each([
    ['while Redis keeps its data', { dataLoss: false }, 0.75],
    ['while Redis loses its data now and then', { dataLoss: true }, 0.25],
  ])(
    `every promise is kept %s, in ${SEEDS} stories in all, from seed ${FIRST_SEED} on`,
    async (_, perils, share) => {
      const count = Math.ceil(SEEDS * share);
      const { failures, stories, runs } = await playInShards({ first: FIRST_SEED, count, perils });
      expect(failures.slice(0, 5).map(failureInWords).join('\n\n')).toBe('');
      expect(stories).toBe(count);
      expect(runs).toBeGreaterThan(count * 25);
    },
    900_000,
  );

  it('a failure says how its very story is found again', async () => {
    const failure = { seed: 7, rule: 'overlap', evidence: 'two at once' } as const;
    expect(failureInWords({ ...failure, perils: {} })).toMatch(/--shrink 7$/);
    expect(failureInWords({ ...failure, perils: { dataLoss: true } })).toMatch(/--shrink 7 --data-loss$/);
    const sabotage: Sabotage = (store) => worse(store, { renew: async () => ({ held: true, time: 0 }) });
    const { failures } = await playSeeds({ first: 1, count: 1, perils: { dataLoss: true }, staging: { sabotage } });
    expect(failures.map(({ perils }) => perils)).toContainEqual({ dataLoss: true });
  });

  it('what a story needs to break a rule is found, and no more', async () => {
    const sabotage: Sabotage = (store) =>
      worse(store, { renew: async () => ({ held: true, time: Date.UTC(2027, 0, 1) }) });
    const plan = drawPlan(1);
    const [violation] = (await play(plan, { sabotage })).violations;
    const rule = violation?.rule ?? 'overlap';
    const { faults } = await shrink(plan, rule, { sabotage });
    const isBrokenBy = async (some: typeof faults): Promise<boolean> =>
      (await play({ ...plan, faults: some }, { sabotage })).violations.some((other) => other.rule === rule);
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

describe('The checker notices', () => {
  it('a store that lets anybody renew', async () => {
    const sabotage: Sabotage = (store) =>
      worse(store, { renew: async () => ({ held: true, time: Date.UTC(2027, 0, 1) }) });
    expect(await brokenBy(sabotage)).toContain('start-without-lock');
  });

  it('a store that lets anybody claim what was claimed before', async () => {
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

  it('a store that forgets the occurrences for which nobody led', async () => {
    const sabotage: Sabotage = (store) =>
      worse(store, {
        acquire: async (bid) => {
          const answer = await store.acquire(bid);
          return answer.granted ? { ...answer, last: answer.time, ran: answer.time } : answer;
        },
      });
    expect(await brokenBy(sabotage)).toContain('lost-in-silence');
  });
});
