import { CLAIM } from './claim.js';
import { CLOCK_SET_BACK } from './clock-set-back.js';
import { FENCING_TOKEN } from './fencing-token.js';
import { HEARTBEAT } from './heartbeat.js';
import { LOCK } from './lock.js';
import { type LockStoreWorld } from './lock-store-world.js';
import { MESSAGES } from './messages.js';
import { OUTDATED_HEARTBEAT, OUTDATED_STATE } from './outdated.js';
import { PAUSE } from './pause.js';
import { REPLICA } from './replica.js';
import { RESTART } from './restart.js';
import { type Rules, sceneIn } from './scene.js';
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
 * - `a restart`: needs `restart` of the world.
 * - `a clock that is set back`: needs `setClockBack` of the world.
 * - `an outdated heartbeat`: only where sessions and locks are always on the same server.
 */
export type OptionalChapter = 'a restart' | 'a clock that is set back' | 'an outdated heartbeat';

/** The store under test. */
export interface LockStoreSuite {
  /** The name of the store in the report. */
  readonly name: string;
  /** Creates a world for one test. It must not contain data of an earlier one. */
  readonly makeWorld: () => LockStoreWorld | Promise<LockStoreWorld>;
  /** Chapters that do not apply. @default none */
  readonly leaveOut?: readonly OptionalChapter[] | undefined;
}

const OPTIONAL_CHAPTERS: Readonly<Record<OptionalChapter, Rules>> = {
  'a restart': RESTART,
  'a clock that is set back': CLOCK_SET_BACK,
  'an outdated heartbeat': OUTDATED_HEARTBEAT,
};

const CHAPTERS: Readonly<Record<string, Rules>> = {
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
  ...OPTIONAL_CHAPTERS,
};

/**
 * The rules of `LockStore` as tests, for authors of a store. Each test has its own world. The stores of this package pass the same tests.
 * Pass the functions of your test runner:
 * `describeLockStore({ describe, it }, { name: 'my store', makeWorld })`.
 */
export function describeLockStore(runner: TestRunner, { name, makeWorld, leaveOut = [] }: LockStoreSuite): void {
  const test = (rule: Rules[string]) => async (): Promise<void> => {
    const world = await makeWorld();
    try {
      await rule(sceneIn(world));
    } finally {
      await world.end();
    }
  };
  const leftOut: readonly string[] = leaveOut;
  runner.describe(name, () => {
    for (const [chapter, rules] of Object.entries(CHAPTERS)) {
      if (leftOut.includes(chapter)) continue;
      runner.describe(chapter, () => {
        for (const [title, rule] of Object.entries(rules)) runner.it(title, test(rule));
      });
    }
  });
}
