import { ok } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
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
/** The TTL of what a test sees end. */
export const SHORT_MS = 200;
/** The lease of `a`. */
export const A = `a.1@${String(LONG_MS)}`;
/** For `b`. */
export const B = `b.1@${String(LONG_MS)}`;
/** The record, where a rule needs only one. */
export const NAME = 'price-tick:job';

/** One replica: its store, what it reported, and short forms of the requests. */
export class SuiteClient {
  readonly events: string[] = [];
  /** All that an open store reports. */
  readonly expectedEvents = this.store.publish === undefined ? ['connected'] : ['connected', 'listening: true'];
  /** The names, and `*`. */
  readonly hints: string[] = [];
  #seen: SyncResult | undefined;

  constructor(readonly store: Store) {
    store.addListener({
      connected: () => this.events.push('connected'),
      listening: (isListening) => this.events.push(`listening: ${String(isListening)}`),
      hint: (names) => this.hints.push(...[names].flat()),
    });
  }

  async open(): Promise<this> {
    this.store.open();
    await until('the store is connected', () => this.events.length >= this.expectedEvents.length || undefined);
    return this;
  }

  async sync(request: Partial<SyncRequest> = {}): Promise<SyncResult> {
    const nothing = { isNewcomer: false, renew: [], grant: [], revoke: [], read: [] };
    this.#seen = await this.store.sync({ ...nothing, ...request });
    return this.#seen;
  }

  /** The leases in the answer, in the order of the alphabet. */
  async leases(request: Partial<SyncRequest> = {}): Promise<LeaseId[]> {
    return [...(await this.sync(request)).leases.keys()].sort();
  }

  async read(...names: string[]): Promise<SyncResult['records']> {
    return (await this.sync({ read: names })).records;
  }

  /**
   * Writes {@link NAME} if it is absent, unless a write says otherwise. Of the incarnation that this replica has seen,
   * and not too late, unless `rest` says so. Resolves to the records that were written.
   */
  async writeAll(writes: readonly Partial<Write>[], rest: Partial<CasRequest> = {}) {
    const { time, incarnation } = this.#seen ?? (await this.sync());
    const all = writes.map((write) => ({ name: NAME, ifRevision: 0, value: '{}', ...write }));
    const request = { incarnation: incarnation.id, until: time + LONG_MS, writes: all, ...rest };
    const revisions = await this.store.compareAndSet(request);
    return all.map(({ value }, i) => (revisions[i] === undefined ? undefined : { revision: revisions[i], value }));
  }

  /** Writes the record over the one that this replica has seen. */
  async write(value = '{}', old = { revision: 0 }, rest?: Partial<CasRequest>): Promise<StoredRecord | undefined> {
    return (await this.writeAll([{ value, ifRevision: old.revision }], rest))[0];
  }

  /** The same, for a write that must succeed. */
  async put(value = '{}', old = { revision: 0 }, rest: Partial<Write> = {}): Promise<StoredRecord> {
    const [record] = await this.writeAll([{ value, ifRevision: old.revision, ...rest }]);
    ok(record !== undefined, `not written at revision ${String(old.revision)}`);
    return record;
  }

  /** Publishes, and waits until these replicas have a hint. False: it is a store without messages. */
  async hint(names: readonly string[] | '*', receivers: readonly SuiteClient[]): Promise<boolean> {
    if (this.store.publish === undefined) return false;
    await this.store.publish(names);
    for (const { hints } of receivers) {
      const isMet = () => hints.includes('*') || [names].flat().every((name) => hints.includes(name)) || undefined;
      await until(`a hint of ${String(names.length)} records`, isMet);
    }
    return true;
  }
}

/** Waits for a value. A request that fails is sent again. The limit is generous, because the machine may be busy. */
export async function until<T>(what: string, read: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const [result] = await Promise.allSettled([Promise.resolve().then(read)]);
    if (result.status === 'fulfilled' && result.value !== undefined) return result.value;
    if (performance.now() > giveUpAt) throw new Error(`waited 60 s in vain: ${what}`, { cause: result });
    await wait(5);
  }
}
