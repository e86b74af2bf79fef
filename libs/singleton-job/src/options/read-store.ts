import { type LockStore } from '../store/index.js';
import { type Environment } from './environment.js';
import { type OptionReader } from './option-reader.js';

const STORE_METHODS: Record<Exclude<keyof LockStore, 'isSubscribed'>, true> = {
  heartbeat: true,
  endSession: true,
  acquire: true,
  renew: true,
  claim: true,
  release: true,
  setPaused: true,
  publish: true,
  addListener: true,
  open: true,
  close: true,
};

/** Reads `store`. In production `'memory'` needs `allowInMemoryStore`. */
export function readStore(reader: OptionReader, environment: Environment): LockStore | 'memory' | undefined {
  const store = reader.get('store');
  if (store === undefined) return undefined;
  if (store === 'memory') {
    const isAllowed = environment.NODE_ENV !== 'production' || reader.get('allowInMemoryStore') === true;
    if (isAllowed) return store;
    const fix = 'set connection, or allowInMemoryStore: true if there is only ever one process';
    reader.note('store', `must not be 'memory' in production, where every replica would run every job: ${fix}`);
    return undefined;
  }
  if (typeof store !== 'object' || store === null) {
    const fix = 'leave it out to use Redis, and set connection';
    reader.refuse('store', "a LockStore or 'memory'", fix);
    return undefined;
  }
  const missing = Object.keys(STORE_METHODS).filter((method) => typeof Reflect.get(store, method) !== 'function');
  if (missing.length === 0) return store as LockStore;
  reader.refuse('store', 'a LockStore', `implement ${missing.map((method) => `${method}()`).join(', ')}`);
  return undefined;
}
