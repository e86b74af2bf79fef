import { A_CLAIM } from './a-claim.js';
import { A_RELEASE } from './a-release.js';
import { A_REPLICA } from './a-replica.js';
import { A_STATE_WITH_AN_END } from './a-state-with-an-end.js';
import { type LockStoreWorld } from './lock-store-world.js';
import { type Rules, sceneIn } from './scene.js';
import { THE_FENCING_TOKEN } from './the-fencing-token.js';
import { THE_LOCK } from './the-lock.js';
import { THE_STATE, THE_STATE_UNDER_ANOTHER_SCHEDULE } from './the-state.js';

/** What the suite needs of a test runner: jest, vitest, mocha and node:test have it. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (name: string, run: () => Promise<void>) => unknown;
}

export interface LockStoreSuite {
  /** What the store is called in the report. */
  readonly name: string;
  /** Makes a world for one test. What an earlier one left must not be seen in it. */
  readonly makeWorld: () => LockStoreWorld | Promise<LockStoreWorld>;
}

const CHAPTERS: Readonly<Record<string, Rules>> = {
  'the lock': THE_LOCK,
  'the fencing token': THE_FENCING_TOKEN,
  'the state': THE_STATE,
  'the state under another schedule': THE_STATE_UNDER_ANOTHER_SCHEDULE,
  'a state with an end': A_STATE_WITH_AN_END,
  'a claim': A_CLAIM,
  'a release': A_RELEASE,
  'a replica': A_REPLICA,
};

/**
 * The promises of `LockStore` as tests, for whoever writes a store: a test for each rule, in a world of its own. The stores
 * of this package pass the same ones. It knows no test runner; hand it the functions of yours:
 * `describeLockStore({ describe, it }, { name: 'my store', makeWorld })`.
 */
export function describeLockStore({ describe, it }: TestRunner, { name, makeWorld }: LockStoreSuite): void {
  const test = (rule: Rules[string]) => async (): Promise<void> => {
    const world = await makeWorld();
    try {
      await rule(sceneIn(world));
    } finally {
      await world.end();
    }
  };
  describe(name, () => {
    for (const [chapter, rules] of Object.entries(CHAPTERS)) {
      describe(chapter, () => {
        for (const [title, rule] of Object.entries(rules)) it(title, test(rule));
      });
    }
  });
}
