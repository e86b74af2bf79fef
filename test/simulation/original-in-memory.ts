import { type InMemoryLockStore } from '../../libs/singleton-job/src/lock/index.js';
import { type OriginalLock, type OriginalServer } from '../support/original-server.js';

/** The original's commands on the locks of an in-memory store, each in one step. */
export function originalInMemory(store: InMemoryLockStore): OriginalServer {
  const isMine = (lock: OriginalLock): boolean => store.holderOf(jobOf(lock)) === lock.nodeId;
  const set = (lock: OriginalLock): boolean => {
    store.occupy(jobOf(lock), lock.nodeId, lock.expiryMs);
    return true;
  };
  const isFree = (lock: OriginalLock): boolean => store.holderOf(jobOf(lock)) === undefined;
  return {
    setIfFree: async (lock) => isFree(lock) && set(lock),
    renewIfMine: async (lock) => isMine(lock) && set(lock),
    acquireOrRenew: async (lock) => (isFree(lock) || isMine(lock)) && set(lock),
    release: async (lock) => {
      const frees = isMine(lock);
      if (frees) store.free(jobOf(lock));
      return frees;
    },
  };
}

/** A store in memory serves one project, and knows its locks by the names of their jobs. */
function jobOf({ key }: OriginalLock): string {
  return key.split(':')[1] ?? key;
}
