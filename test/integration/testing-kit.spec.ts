import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockStore } from 'nestjs-singleton-job';
import { describeLockStore } from 'nestjs-singleton-job/testing';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { inMemoryFixture } from '../support/in-memory-fixture.js';

const SAMPLES = join(import.meta.dirname, 'testing-samples');

/** A store that breaks a promise in the way the overrides say. */
type Breakage = (store: LockStore) => Partial<LockStore>;

/** The rules that a store breaks, of how many. */
async function brokenRules(breakage: Breakage): Promise<{ readonly broken: string[]; readonly rules: number }> {
  const tests: { readonly title: string; readonly run: () => Promise<void> }[] = [];
  const path: string[] = [];
  const runner = {
    describe: (name: string, define: () => void) => {
      path.push(name);
      define();
      path.pop();
    },
    it: (name: string, run: () => Promise<void>) => tests.push({ title: `${path.at(-1) ?? ''} ${name}`, run }),
  };
  describeLockStore(runner, {
    name: 'a store',
    makeFixture: () => inMemoryFixture((whole) => breaking(whole, breakage(whole))),
  });
  const broken: string[] = [];
  for (const { title, run } of tests) await run().catch(() => broken.push(title));
  return { broken, rules: tests.length };
}

function breaking(whole: LockStore, broken: Partial<LockStore>): LockStore {
  return new Proxy(whole, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in broken ? broken : target, name, target);
      return typeof value === 'function'
        ? (...args: unknown[]) => Reflect.apply(value, target, args) as unknown
        : value;
    },
  });
}

const BREAKAGES: [what: string, breakage: Breakage, rule: string][] = [
  [
    'says to everybody that the lock was released',
    (store) => ({ release: async (request) => ({ ...(await store.release(request)), released: true }) }),
    'a lock is not released for another holder, not even for a later attempt of the same replica',
  ],
  [
    'gives every term the same token',
    (store) => ({
      acquire: async (request) => {
        const result = await store.acquire(request);
        return result.granted ? { ...result, token: result.stateCreatedAt } : result;
      },
    }),
    'a fencing token grows from term to term, and is never below the time of the store',
  ],
  [
    'forgets what was claimed',
    (store) => ({ claim: async (request) => ({ ...(await store.claim(request)), outcome: 'claimed' as const }) }),
    'a claim takes an occurrence once, and all older ones with it',
  ],
  [
    'does not renew by a claim',
    (store) => ({ claim: (request) => store.claim({ ...request, lifeMs: 1 }) }),
    'a claim is a renewal too, also when the outcome is: claimed',
  ],
  [
    'forgets the update of the last leader',
    (store) => ({ release: (request) => store.release({ ...request, update: {} }) }),
    'the state takes the update of a renewal, a claim and a release',
  ],
  [
    'extends a session that has ended',
    (store) => ({
      heartbeat: async (request) => {
        const result = await store.heartbeat(request);
        return { ...result, sessions: result.sessions.map((session) => ({ ...session, status: 'extended' as const })) };
      },
    }),
    'the end of a session is final: a session whose time has passed is never extended again',
  ],
  [
    'lets a lock be taken before its time',
    (store) => ({ acquire: (request) => store.acquire({ ...request, notBefore: 0 }) }),
    'the time before which no lock is taken holds for a free lock',
  ],
  [
    'answers no instead of rejecting',
    (store) => ({
      renew: (request) =>
        store.renew(request).catch(() => ({ held: false, holder: undefined, pausedAt: undefined, storeTime: 0 })),
    }),
    'a replica that closed its store gets no answer',
  ],
];

describe('the suite for stores', () => {
  it('passes a store that keeps all rules', async () => {
    const { broken, rules } = await brokenRules(() => ({}));
    expect(broken).toEqual([]);
    expect(rules).toBeGreaterThanOrEqual(100);
  });

  it.each(BREAKAGES)('finds a store that %s', async (_what, breakage, rule) => {
    expect((await brokenRules(breakage)).broken).toContain(rule);
  });

  it('runs under node:test', async () => {
    const program = ['--import', 'tsx', '--test', '--test-reporter', 'tap', join(SAMPLES, 'my-store.test.ts')];
    const { code, output } = await attempt(process.execPath, program, { limitMs: 80_000 });
    expect([code, output]).toEqual([0, expect.stringMatching(/^# fail 0$/m)]);
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(100);
  });
});

describe('docs/testing.md', () => {
  const tested = readdirSync(SAMPLES).map((name) => readFileSync(join(SAMPLES, name), 'utf8'));
  const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);

  it('shows whole files, with their imports, that are compiled and run', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    expect(blocks.filter((block) => !tested.includes(block))).toEqual([]);
  });
});
