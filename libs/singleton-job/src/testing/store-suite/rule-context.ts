import { type StoreFixture } from './store-fixture.js';
import { type SuiteClient } from './suite-client.js';

/** The arguments of a rule. */
export interface RuleContext {
  readonly fixture: StoreFixture;
  /** Two replicas of the project. `a` has the lease `A`. */
  readonly a: SuiteClient;
  readonly b: SuiteClient;
  /** One more replica. */
  readonly connect: () => Promise<SuiteClient>;
  /** A replica of the other project, which is empty. */
  readonly connectElsewhere: () => Promise<SuiteClient>;
  readonly passTime: (ms: number) => Promise<void>;
}

/** Rules by their names. A broken rule rejects. */
export type Rules = Readonly<Record<string, (context: RuleContext) => Promise<void>>>;
