/** The contract of a store, for authors of a store of their own. Applications need only the main entry. */
export {
  type CasRequest,
  type Incarnation,
  type LeaseId,
  lifeOf,
  type Store,
  type StoredRecord,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
  type Write,
} from './store.js';
