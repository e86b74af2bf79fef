import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockStore } from 'nestjs-singleton-job';
import { describeLockStore, InMemoryLockStore, ManualClock } from 'nestjs-singleton-job/testing';
import { attempt, type CommandResult } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

const SAMPLES = join(import.meta.dirname, 'testing-samples');

/** A store that breaks a promise in the way the overrides say. */
type Breakage = (store: LockStore) => Partial<LockStore>;

/** Runs a file of tests without jest. */
function nodeTest(file: string): Promise<CommandResult> {
  return attempt(process.execPath, ['--import', 'tsx', '--test', '--test-reporter', 'tap', file], { limitMs: 80_000 });
}

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
  describeLockStore(runner, { name: 'a store', makeWorld: () => worldOf(breakage) });
  const broken: string[] = [];
  for (const { title, run } of tests) await run().catch(() => broken.push(title));
  return { broken, rules: tests.length };
}

function worldOf(breakage: Breakage) {
  const clock = new ManualClock();
  const first = new InMemoryLockStore(clock);
  const [store, other] = [first, first.replica()].map((whole) => breaking(whole, breakage(whole)));
  if (store === undefined || other === undefined) throw new Error('there are two');
  return {
    store,
    other,
    occupy: async (...args: Parameters<InMemoryLockStore['occupy']>) => {
      first.occupy(...args);
    },
    loseData: async () => {
      first.loseData();
    },
    passTime: (ms: number) => clock.advance(ms),
    end: async () => {
      await Promise.all([store.close(), other.close()]);
    },
  };
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
    'lets everybody release',
    (store) => ({
      release: async (release) => ({ ...(await store.release(release)), released: true }),
    }),
    'the lock is not released by a stranger, not even by a later attempt of the same process',
  ],
  [
    'gives every term the same token',
    (store) => ({
      acquire: async (bid) => {
        const answer = await store.acquire(bid);
        return answer.granted ? { ...answer, token: answer.born } : answer;
      },
    }),
    'the fencing token grows from term to term, and is never below the time of the store',
  ],
  [
    'forgets what was claimed',
    (store) => ({ claim: async (claim) => ({ ...(await store.claim(claim)), outcome: 'claimed' as const }) }),
    'a claim takes an occurrence once, and what came before it with it',
  ],
  [
    'does not renew by a claim',
    (store) => ({ claim: (claim) => store.claim({ ...claim, lockExpiryMs: 30_000 }) }),
    'a claim is a renewal too, also when the answer is: claimed',
  ],
  [
    'forgets how far its predecessor came',
    (store) => ({ release: (release) => store.release({ ...release, progress: {} }) }),
    'the state takes the progress of renewal, claim and release, and is never lowered by it',
  ],
  [
    'announces a release without saying of what',
    (store) => ({ announce: (by) => store.announce(by, []) }),
    'a release that is quiet is announced later, together with others',
  ],
  [
    'says no where it does not know',
    (store) => ({
      renew: (renewal) => store.renew(renewal).catch(() => ({ held: false, time: 0 })),
    }),
    'a replica that closed its store is answered nothing, neither yes nor no',
  ],
];

describe('the suite for stores', () => {
  it('has nothing against a store that keeps its promises', async () => {
    const { broken, rules } = await brokenRules(() => ({}));
    expect(broken).toEqual([]);
    expect(rules).toBeGreaterThanOrEqual(43);
  });

  it.each(BREAKAGES)('finds a store that %s', async (_what, breakage, rule) => {
    expect((await brokenRules(breakage)).broken).toContain(rule);
  });

  it('runs under node:test, and fails there for a store that is broken', async () => {
    const whole = await nodeTest(join(SAMPLES, 'my-store.test.ts'));
    expect(whole).toMatchObject({ code: 0, output: expect.stringMatching(/^# fail 0$/m) });
    expect(Number(/^# pass (\d+)$/m.exec(whole.output)?.[1])).toBeGreaterThanOrEqual(43);

    const broken = await nodeTest(join(ROOT, 'test/support/broken-store.test.ts'));
    const failed = [...broken.output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, title]) => title);
    expect(broken.code).toBe(1);
    expect(failed).toContain('takes an occurrence once, and what came before it with it');
    expect(failed).not.toContain(
      'is granted to the first who asks, and refused to the second, who is told by whom it is held',
    );
  });
});

describe('docs/testing.md', () => {
  const spaced = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const tested = readdirSync(SAMPLES).map((name) => spaced(readFileSync(join(SAMPLES, name), 'utf8')));
  const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);

  it('shows code that is compiled and run, word for word', () => {
    const paragraphs = blocks.flatMap((block) => block.trim().split(/\n\n(?=\S)/));
    expect(paragraphs.length).toBeGreaterThanOrEqual(10);
    expect(paragraphs.filter((text) => !tested.some((code) => code.includes(spaced(text))))).toEqual([]);
  });
});
