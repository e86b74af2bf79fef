import { type Store } from '../../store/store.js';
import { CONNECTION, HINT } from './connection-rules.js';
import { CLOCK_SET_BACK, DATA_LOSS, INCARNATION, LEASE, RESTART } from './lease-rules.js';
import { RECORD, UNREADABLE_RECORD, WRITE } from './record-rules.js';
import { contextOf, type Rules } from './rule-context.js';
import { type StoreFixture } from './store-fixture.js';
import { A } from './suite-client.js';

/** What the suite needs of a test runner: jest, vitest, mocha and node:test have it. */
export interface TestRunner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => unknown;
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => unknown;
}

/** The store under test. */
export interface StoreSuite {
  /** The name of the store in the report. */
  readonly name: string;
  /**
   * Makes the fixture of one test. Called once more when the tests are defined, to see which faults it has. So it
   * connects to nothing before one of its functions is called.
   */
  readonly makeFixture: () => StoreFixture;
}

/** The rules of each group, and what the fixture must have for it. */
const GROUPS: Readonly<Record<string, readonly [Rules, (keyof StoreFixture)?]>> = {
  'the incarnation': [INCARNATION],
  'a lease': [LEASE],
  'a record': [RECORD],
  'a write': [WRITE],
  'a hint': [HINT],
  'the connection': [CONNECTION],
  'an unreadable record': [UNREADABLE_RECORD, 'corrupt'],
  'a restart': [RESTART, 'restart'],
  'the loss of all data': [DATA_LOSS, 'loseData'],
  'a clock that is set back': [CLOCK_SET_BACK, 'setClockBack'],
};

/**
 * The rules of `Store` as tests, for authors of a store. Each test has its own fixture. The stores of this package pass
 * the same tests. Pass the functions of your test runner: `describeStore({ describe, it }, { name: 'my store',
 * makeFixture })`.
 */
export function describeStore({ describe, it }: TestRunner, { name, makeFixture }: StoreSuite): void {
  const example = makeFixture();
  describe(name, () => {
    for (const [title, [rules, fault]] of Object.entries(GROUPS)) {
      if (fault !== undefined && example[fault] === undefined) continue;
      describe(title, () => {
        for (const [rule, check] of Object.entries(rules)) it(rule, () => run(check, makeFixture()));
      });
    }
  });
}

async function run(check: Rules[string], fixture: StoreFixture): Promise<void> {
  const stores: Store[] = [];
  const context = contextOf(fixture, stores);
  try {
    const [a, b] = [await context.connect(), await context.connect()];
    await a.sync({ isNewcomer: true, grant: [A] });
    await check({ ...context, a, b });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await fixture.end?.();
  }
}
