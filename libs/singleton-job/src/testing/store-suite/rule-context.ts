import { setTimeout as wait } from 'node:timers/promises';
import { type Store } from '../../store/store.js';
import { type StoreFixture } from './store-fixture.js';
import { SuiteClient } from './suite-client.js';

/** What a rule may do. It adds the stores that it opens. */
export function contextOf(fixture: StoreFixture, stores: Store[]) {
  const open = (store: Store): Promise<SuiteClient> => {
    stores.push(store);
    return new SuiteClient(store).open();
  };
  return {
    fixture,
    /** One more replica. */
    connect: () => open(fixture.newStore()),
    /** A replica of the other project, which is empty. */
    connectElsewhere: () => open(fixture.newStoreOfOtherProject()),
    passTime: (ms: number): Promise<void> => fixture.passTime?.(ms) ?? wait(ms),
  };
}

/** With two replicas of the project. `a` has the lease `A`. */
export type RuleContext = ReturnType<typeof contextOf> & Readonly<Record<'a' | 'b', SuiteClient>>;

/** Rules by their names. A broken rule rejects. */
export type Rules = Readonly<Record<string, (context: RuleContext) => Promise<void>>>;
