import {
  type Claim,
  type ClaimAnswer,
  type Holder,
  type LockStore,
  type Progress,
  type ReleaseAnswer,
  type RenewalAnswer,
} from '../../store/index.js';
import { LONG_MS } from './asking.js';
import { type LockStoreWorld } from './lock-store-world.js';

/** What a rule has to work with: a world of its own, and the commands of its first replica for one job. */
export interface Scene {
  readonly world: LockStoreWorld;
  readonly store: LockStore;
  readonly other: LockStore;
  readonly renew: (holder: Holder, progress?: Progress, lockExpiryMs?: number) => Promise<RenewalAnswer>;
  readonly release: (holder: Holder, progress?: Progress) => Promise<ReleaseAnswer>;
  readonly claim: (holder: Holder, rest: Pick<Claim, 'token' | 'scheduledAt'> & Partial<Claim>) => Promise<ClaimAnswer>;
}

/** Rules by their names. A rule that is broken rejects. */
export type Rules = Readonly<Record<string, (scene: Scene) => Promise<void>>>;

export function sceneIn(world: LockStoreWorld): Scene {
  const { store, other } = world;
  return {
    world,
    store,
    other,
    renew: (holder, progress = {}, lockExpiryMs = LONG_MS) =>
      store.renew({ name: 'price-tick', holder, lockExpiryMs, progress }),
    release: (holder, progress = {}) => store.release({ name: 'price-tick', holder, progress, quietly: true }),
    claim: (holder, rest) => store.claim({ name: 'price-tick', holder, lockExpiryMs: LONG_MS, progress: {}, ...rest }),
  };
}
