import { describe, expect, it, jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { memoryFixture } from '../support/memory-fixture.js';
import { type Store } from 'nestjs-singleton-job';
import { describeStore } from 'nestjs-singleton-job/testing';

const SAMPLES = join(import.meta.dirname, 'testing-samples');

/** A store that breaks a promise in the way the overrides say. */
type Breakage = (whole: Pick<Store, 'sync' | 'compareAndSet'>) => Partial<Store>;

/** The rules of this kind that a store breaks. What they wait for is over at once. */
async function brokenRules(breakage: Breakage, kind: RegExp): Promise<string[]> {
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
  describeStore(runner, {
    name: 'a store',
    makeFixture: () =>
      memoryFixture((store) => {
        const whole = { sync: store.sync.bind(store), compareAndSet: store.compareAndSet.bind(store) };
        return Object.assign(store, breakage(whole));
      }),
  });
  const broken: string[] = [];
  jest.useFakeTimers();
  for (const { title, run } of tests.filter((test) => kind.test(test.title))) {
    const check = { isOpen: true };
    const failed = () => broken.push(title);
    void run()
      .catch(failed)
      .then(() => (check.isOpen = false));
    while (check.isOpen) await jest.advanceTimersByTimeAsync(1_000);
  }
  jest.useRealTimers();
  return broken;
}

const BREAKAGES: [what: string, breakage: Breakage, rule: RegExp][] = [
  [
    'renews a lease that has ended',
    (store) => ({
      sync: (request) => store.sync({ ...request, renew: [], grant: [...request.renew, ...request.grant] }),
    }),
    /lease/,
  ],
  [
    'writes whatever the revision is',
    (store) => ({
      compareAndSet: async (request) => {
        const revisions = await store.compareAndSet(request);
        return revisions.map((revision, index) => revision ?? (request.writes[index]?.ifRevision ?? 0) + 1);
      },
    }),
    /revision|write/,
  ],
  [
    'carries out a write that is late',
    (store) => ({ compareAndSet: (request) => store.compareAndSet({ ...request, until: Infinity }) }),
    /late|until|time/,
  ],
  ['gives hints to none', () => ({ publish: () => Promise.resolve() }), /hint/],
  ['answers after it was closed', () => ({ close: () => Promise.resolve() }), /close/],
];

describe('the suite for stores', () => {
  it.each(BREAKAGES)('finds a store that %s', async (_what, breakage, rule) => {
    expect(await brokenRules(breakage, rule)).not.toEqual([]);
  });

  it('runs under node:test, and a store in files passes it', async () => {
    const program = ['--import', 'tsx', '--test', '--test-reporter', 'tap', join(SAMPLES, 'file-store.test.ts')];
    const { code, output } = await attempt(process.execPath, program);
    expect([code, output]).toEqual([0, expect.stringMatching(/^# fail 0$/m)]);
    expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(20);
  });
});

describe('docs/testing.md', () => {
  const tested = readdirSync(SAMPLES).map((name) => readFileSync(join(SAMPLES, name), 'utf8'));
  const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);

  it('shows whole files, with their imports, that are compiled and run', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    // here they run under Jest; `npm run test:packages` runs them under both
    const forJest = blocks.map((block) =>
      block.replace("from 'vitest';", "from '@jest/globals';").replace(/\bvi\b/g, 'jest'),
    );
    expect(forJest.filter((block) => !tested.includes(block))).toEqual([]);
  });

  it('fails over the job of the README', () => {
    const [job = ''] = /^@Injectable[^]*?^}$/m.exec(readFileSync(join(ROOT, 'apps/minimal/src/main.ts'), 'utf8')) ?? [];
    expect(blocks.at(-1)).toContain(job.replace('export ', ''));
    expect(job).toContain('@FixedRate');
  });
});
