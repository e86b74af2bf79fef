import { CLAIM } from './claim.js';
import { CLOCK_SET_BACK } from './clock-set-back.js';
import { FENCING_TOKEN } from './fencing-token.js';
import { HEARTBEAT } from './heartbeat.js';
import { LOCK } from './lock.js';
import { type LockStoreFixture } from './lock-store-fixture.js';
import { MESSAGES } from './messages.js';
import { OUTDATED_HEARTBEAT, OUTDATED_STATE } from './outdated.js';
import { PAUSE } from './pause.js';
import { REPLICA } from './replica.js';
import { RESTART } from './restart.js';
import { type Rules, ruleContext } from './rule-context.js';
import { END_OF_SESSION, LIST_OF_SESSIONS } from './sessions.js';
import { STATE_LIFE } from './state-life.js';
import { STATE } from './state.js';
import { TAKEOVER } from './takeover.js';
import { WAIT } from './wait.js';

/** What the suite needs of a test runner: jest, vitest, mocha and node:test have it. */
export interface TestRunner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => unknown;
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => unknown;
}

/**
 * - `a restart`: needs `restart` of the fixture.
 * - `a clock that is set back`: needs `setClockBack` of the fixture.
 * - `an outdated heartbeat`: only where sessions and locks are always on the same server.
 */
export type OptionalGroup = 'a restart' | 'a clock that is set back' | 'an outdated heartbeat';

/** The store under test. */
export interface LockStoreSuite {
  /** The name of the store in the report. */
  readonly name: string;
  /** Creates a fixture for one test. It must not contain data of an earlier one. */
  readonly makeFixture: () => LockStoreFixture | Promise<LockStoreFixture>;
  /** Groups that do not apply. @default none */
  readonly leaveOut?: readonly OptionalGroup[] | undefined;
}

const OPTIONAL_GROUPS: Readonly<Record<OptionalGroup, Rules>> = {
  'a restart': RESTART,
  'a clock that is set back': CLOCK_SET_BACK,
  'an outdated heartbeat': OUTDATED_HEARTBEAT,
};

const GROUPS: Readonly<Record<string, Rules>> = {
  'a heartbeat': HEARTBEAT,
  'the list of sessions': LIST_OF_SESSIONS,
  'the end of a session': END_OF_SESSION,
  'a lock': LOCK,
  'a takeover': TAKEOVER,
  'the time before which no lock is taken': WAIT,
  'an outdated state': OUTDATED_STATE,
  'a fencing token': FENCING_TOKEN,
  'the state': STATE,
  'a state with a life': STATE_LIFE,
  'a claim': CLAIM,
  'a pause': PAUSE,
  'a message': MESSAGES,
  'a replica': REPLICA,
  ...OPTIONAL_GROUPS,
};

/**
 * The rules of `LockStore` as tests, for authors of a store. Each test has its own fixture. The stores of this package pass the same tests.
 * Pass the functions of your test runner:
 * `describeLockStore({ describe, it }, { name: 'my store', makeFixture })`.
 */
export function describeLockStore(runner: TestRunner, { name, makeFixture, leaveOut = [] }: LockStoreSuite): void {
  const test = (rule: Rules[string]) => async (): Promise<void> => {
    const fixture = await makeFixture();
    try {
      await rule(ruleContext(fixture));
    } finally {
      await fixture.end();
    }
  };
  const leftOut: readonly string[] = leaveOut;
  runner.describe(name, () => {
    for (const [group, rules] of Object.entries(GROUPS)) {
      if (leftOut.includes(group)) continue;
      runner.describe(group, () => {
        for (const [title, rule] of Object.entries(rules)) runner.it(title, test(rule));
      });
    }
  });
}
