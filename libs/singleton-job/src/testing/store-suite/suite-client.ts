import { deepEqual, ok } from 'node:assert/strict';
import {
  type CasRequest,
  type LeaseId,
  type Store,
  type StoredRecord,
  type SyncRequest,
  type SyncResult,
  type Write,
} from '../../store/store.js';

/** Long enough that nothing ends while a test runs. */
export const LONG_MS = 600_000;
/** The life of a lease, or of a record, that a test sees end. */
export const SHORT_MS = 200;

/** One replica: its store, what it reported, and short forms of the requests. */
export class SuiteClient {
  readonly events: string[] = [];
  readonly hints: (readonly string[] | '*')[] = [];
  #seen: SyncResult | undefined;

  constructor(readonly store: Store) {
    store.addListener({
      connected: () => this.events.push('connected'),
      disconnected: () => this.events.push('disconnected'),
      listening: (isListening) => this.events.push(isListening ? 'listening' : 'not listening'),
      hint: (names) => this.hints.push(names),
    });
  }

  async open(): Promise<this> {
    this.store.open();
    const expected = this.store.publish === undefined ? 'connected' : 'listening';
    await eventually(`the store is ${expected}`, () => this.events.includes(expected) || undefined);
    return this;
  }

  async sync(request: Partial<SyncRequest> = {}): Promise<SyncResult> {
    const nothing = { isNewcomer: false, renew: [], grant: [], revoke: [], read: [] };
    this.#seen = await this.store.sync({ ...nothing, ...request });
    return this.#seen;
  }

  async grant(...leases: LeaseId[]): Promise<SyncResult> {
    return this.sync({ isNewcomer: true, grant: leases });
  }

  async leases(): Promise<LeaseId[]> {
    const { leases } = await this.sync();
    return [...leases.keys()].sort();
  }

  async read(name: string): Promise<StoredRecord | 'unreadable' | undefined> {
    const { records } = await this.sync({ read: [name] });
    return records[0];
  }

  /** Of the incarnation that this replica has seen, and not too late, unless `overrides` says so. */
  async writeAll(writes: readonly Write[], overrides: Partial<CasRequest> = {}): Promise<(number | undefined)[]> {
    const seen = this.#seen ?? (await this.sync());
    const { time, incarnation } = seen;
    return [
      ...(await this.store.compareAndSet({ incarnation: incarnation.id, until: time + LONG_MS, writes, ...overrides })),
    ];
  }

  async write(write: Write, overrides: Partial<CasRequest> = {}): Promise<number | undefined> {
    const revisions = await this.writeAll([write], overrides);
    deepEqual(revisions.length, 1);
    return revisions[0];
  }

  /** Writes, and expects that it is written. */
  async put(name: string, ifRevision = 0, value = '{}'): Promise<number> {
    const revision = await this.write({ name, ifRevision, value });
    ok(revision !== undefined, `'${name}' was not written at revision ${String(ifRevision)}`);
    return revision;
  }
}

/** Waits for a condition. The limit is generous, because the machine may be busy. */
export async function eventually<T>(
  what: string,
  read: () => T | undefined | Promise<T | undefined>,
  limitMs = 15_000,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > giveUpAt) throw new Error(`waited ${String(limitMs)} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Sends a request again until it is answered, as a replica does after a fault. */
export async function answered<T>(request: () => Promise<T>): Promise<T> {
  return eventually('the store answers', async () => request().catch(() => undefined));
}
