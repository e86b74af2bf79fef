/**
 * A lease says that a replica is alive: `replica.n@ttlMs`, such as `web-1-3b0ab314.1@10000`. It lives for `ttlMs`
 * from its last confirmed renewal, by the clock of the store.
 */
export type LeaseId = string;

/** The TTL of a lease is at least this. Only tests have shorter ones. */
export const MIN_LOCK_EXPIRY_MS = 500;

/** Who holds a record: `lease#attempt`. Each attempt to take a record has a number of its own. */
export type Holder = string;

/** The n-th lease of a replica. */
export function leaseId(replica: string, n: number, ttlMs: number): LeaseId {
  return `${replica}.${n}@${ttlMs}`;
}

export function holderOf(lease: LeaseId, attempt: number): Holder {
  return `${lease}#${attempt}`;
}

/** Whether it is the id of a lease, of a day at most: another program may have written it. */
export function isLeaseId(id: string): boolean {
  return /^.+\.\d+@\d{1,8}(\.\d+)?$/.test(id);
}

export function isHolder(value: unknown): boolean {
  return typeof value === 'string' && /#\d+$/.test(value) && isLeaseId(leaseOf(value));
}

/** The TTL in a lease id, in milliseconds. */
export function ttlOf(lease: LeaseId): number {
  return Number(lease.slice(lease.lastIndexOf('@') + 1));
}

export function leaseOf(holder: Holder): LeaseId {
  return holder.slice(0, holder.lastIndexOf('#'));
}

/** `web-1-3b0ab314`, of a lease or a holder. */
export function replicaOf(id: LeaseId): string {
  return id.replace(/\.\d+@[\d.]+(#\d+)?$/, '');
}
