import { type Store } from '../store/store.js';
import { type Reader } from './option-table.js';

type Method = Exclude<keyof Store, 'name' | 'publish'>;
const METHODS: Record<Method, true> = { sync: true, compareAndSet: true, addListener: true, open: true, close: true };

/** Reads `store`. */
export const readStore: Reader<Store | 'memory'> = (store, at) => {
  if (store === 'memory') return store;
  if (typeof store !== 'object' || store === null)
    return at.refuse(store, "a Store or 'memory'", 'leave it out to use Redis, and set connection');
  const missing = Object.keys(METHODS).filter((method) => typeof Reflect.get(store, method) !== 'function');
  const name: unknown = Reflect.get(store, 'name');
  if (typeof name !== 'string' || name === '') missing.push('name');
  if (missing.length === 0) return store as Store;
  const members = missing.map((member) => (member === 'name' ? "name, such as 'MongoDB'" : `${member}()`));
  return at.refuse(store, 'a Store', `implement ${members.join(', ')}`);
};
