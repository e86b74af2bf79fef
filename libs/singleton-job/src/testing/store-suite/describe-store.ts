import { type Store } from '../../store/store.js';
import { CONNECTION, HINT } from './connection-rules.js';
import { DATA_LOSS, INCARNATION, RESTART } from './incarnation-rules.js';
import { CLOCK_SET_BACK, LEASE } from './lease-rules.js';
import { LATE_REQUEST, RECORD, UNREADABLE_RECORD, WRITE } from './record-rules.js';
import { type Rules } from './rule-context.js';
import { type StoreFixture } from './store-fixture.js';
import { SuiteClient } from './suite-client.js';

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
   * Makes the fixture of one test. Called once more when the tests are defined, to see which faults it has. So it connects to nothing
   * before `newStore` or a fault is called.
   */
  readonly makeFixture: () => StoreFixture;
}

const GROUPS: Readonly<Record<string, Rules>> = {
  'the incarnation': INCARNATION,
  'a lease': LEASE,
  'a record': RECORD,
  'a write': WRITE,
  'a repeated or late request': LATE_REQUEST,
  'a hint': HINT,
  'the connection': CONNECTION,
};

/** Groups that need a fault of the fixture. */
const FAULTS = {
  spoil: { title: 'an unreadable record', rules: UNREADABLE_RECORD },
  restart: { title: 'a restart', rules: RESTART },
  loseData: { title: 'the loss of all data', rules: DATA_LOSS },
  setClockBack: { title: 'a clock that is set back', rules: CLOCK_SET_BACK },
} as const satisfies Partial<Record<keyof StoreFixture, { title: string; rules: Rules }>>;

/**
 * The rules of `Store` as tests, for authors of a store. Each test has its own fixture. The stores of this package pass the same tests.
 * Pass the functions of your test runner: `describeStore({ describe, it }, { name: 'my store', makeFixture })`.
 */
export function describeStore({ describe, it }: TestRunner, { name, makeFixture }: StoreSuite): void {
  const groups = { ...GROUPS };
  const example = makeFixture();
  for (const [fault, { title, rules }] of Object.entries(FAULTS)) {
    if (example[fault as keyof typeof FAULTS] !== undefined) groups[title] = rules;
  }
  describe(name, () => {
    for (const [title, rules] of Object.entries(groups)) {
      describe(title, () => {
        for (const [rule, check] of Object.entries(rules)) it(rule, () => withFixture(makeFixture(), check));
      });
    }
  });
}

async function withFixture(fixture: StoreFixture, check: Rules[string]): Promise<void> {
  const stores: Store[] = [];
  const connect = async (store: Store): Promise<SuiteClient> => {
    stores.push(store);
    return new SuiteClient(store).open();
  };
  try {
    await check({
      fixture,
      connect: () => connect(fixture.newStore()),
      connectElsewhere: () => connect(fixture.newStoreOfOtherProject()),
      passTime: async (ms) => (fixture.passTime ?? wait)(ms),
    });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await fixture.end?.();
  }
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
