import { type Store } from '../../store/store.js';
import { type Reader } from '../table/option-table.js';

type Method = Exclude<keyof Store, 'name' | 'publish'>;
const METHODS: Record<Method, true> = { sync: true, compareAndSet: true, addListener: true, open: true, close: true };

/** Reads `store`. */
export const readStore: Reader<Store | 'memory'> = (store, place) => {
  if (store === 'memory') return store;
  const fix = 'leave it out, and set connection to a URL of Redis, PostgreSQL, MySQL or SQLite';
  if (typeof store !== 'object' || store === null)
    return place.ofConnection().refuse(store, "a Store or 'memory'", fix);
  const methods = Object.keys(METHODS).filter((method) => typeof Reflect.get(store, method) !== 'function');
  const missing = methods.map((method) => `${method}()`);
  const name: unknown = Reflect.get(store, 'name');
  if (typeof name !== 'string' || name === '') missing.push("name, such as 'MongoDB'");
  return missing.length === 0 ? (store as Store) : place.refuse(store, 'a Store', `implement ${missing.join(', ')}`);
};
