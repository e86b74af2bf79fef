import { type Holder, holderName } from '../store/lock-store.js';

/** The name of the holder, as statuses have it: null for none. */
export function leaderOf(holder: Holder | undefined): string | null {
  return holder === undefined ? null : holderName(holder);
}
