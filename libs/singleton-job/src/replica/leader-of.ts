import { type Holder, replicaOf } from '../store/index.js';

/** The replica of a holder. A holder that is not of this library is one name. */
export function leaderOf(holder: Holder | undefined): string | null {
  return holder === undefined ? null : (replicaOf(holder) ?? holder);
}
