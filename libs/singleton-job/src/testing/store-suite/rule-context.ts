import { type StoreFixture } from './store-fixture.js';
import { type SuiteClient } from './suite-client.js';

/** The arguments of a rule. */
export interface RuleContext {
  readonly fixture: StoreFixture;
  /** Another replica of the project, connected. */
  readonly connect: () => Promise<SuiteClient>;
  /** A replica of another project, connected. */
  readonly connectElsewhere: () => Promise<SuiteClient>;
  readonly passTime: (ms: number) => Promise<void>;
}

/** Rules by their names. A broken rule rejects. */
export type Rules = Readonly<Record<string, (context: RuleContext) => Promise<void>>>;
