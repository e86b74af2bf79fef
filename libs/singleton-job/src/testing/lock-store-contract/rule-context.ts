import {
  type ClaimRequest,
  type ClaimResult,
  type Holder,
  type LockStore,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SetPausedResult,
  type StateUpdate,
} from '../../store/lock-store.js';
import { type LockStoreFixture } from './lock-store-fixture.js';
import { LONG_MS } from './requests.js';

/** The arguments of a rule: its own fixture, and the requests of its first replica for one job. */
export interface RuleContext {
  readonly fixture: LockStoreFixture;
  readonly store: LockStore;
  readonly other: LockStore;
  readonly renew: (holder: Holder, update?: StateUpdate, rest?: Partial<RenewRequest>) => Promise<RenewResult>;
  readonly release: (holder: Holder, update?: StateUpdate) => Promise<ReleaseResult>;
  readonly claim: (
    holder: Holder,
    rest: Pick<ClaimRequest, 'token' | 'scheduledAt'> & Partial<ClaimRequest>,
  ) => Promise<ClaimResult>;
  readonly setPaused: (isPaused: boolean) => Promise<SetPausedResult>;
}

/** Rules by their names. A broken rule rejects. */
export type Rules = Readonly<Record<string, (context: RuleContext) => Promise<void>>>;

export function ruleContext(fixture: LockStoreFixture): RuleContext {
  const { store, other } = fixture;
  const name = 'price-tick';
  return {
    fixture,
    store,
    other,
    renew: (holder, update = {}, rest = {}) => store.renew({ name, holder, lifeMs: LONG_MS, update, ...rest }),
    release: (holder, update = {}) => store.release({ name, holder, token: 0, update }),
    claim: (holder, rest) => store.claim({ name, holder, lifeMs: LONG_MS, update: {}, ...rest }),
    setPaused: (isPaused) => store.setPaused({ name, isPaused }),
  };
}
