import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import {
  type CasRequest,
  type LeaseId,
  type Store,
  type SyncRequest,
  type SyncResult,
  type Write,
} from '../../libs/singleton-job/src/store/store.js';

export interface HammerOptions {
  /** @default 50 */
  readonly clients?: number;
  /** For how long they send requests. @default 4000 */
  readonly ms?: number;
  /** How many records they share: half have a holder, and everybody writes the others. @default 40 */
  readonly names?: number;
  /** The life of their leases. @default 300 */
  readonly lifeMs?: number;
}

/** What the clients of {@link hammer} did, and which promises the store broke. */
export interface HammerResult {
  readonly syncs: number;
  /** Requests to write, also those that were sent again. */
  readonly writes: number;
  /** Records that were written. */
  readonly applied: number;
  /** Records that were not written, because their revision was another. */
  readonly conflicts: number;
  /** Leases that were seen to end. */
  readonly ended: number;
  /** Requests that failed: a promise is not broken by them. */
  readonly rejected: readonly string[];
  /** Each once. */
  readonly problems: readonly string[];
}

/**
 * Many replicas on one project at once. They take free records, write and release their own, lose their leases or give them up, and send requests twice and late.
 * No two may write the same revision of a record or hold it at once, no revision may come twice, and no lease may live again.
 *
 * `open` returns the connected store of a replica.
 */
export async function hammer(
  open: (index: number) => Promise<Store>,
  options: HammerOptions = {},
): Promise<HammerResult> {
  const { clients = 50, ms = 4_000, names = 40, lifeMs = 300 } = options;
  const watch = new Watch(lifeMs);
  const stores = await Promise.all(Array.from({ length: clients }, (_, index) => open(index)));
  const records = Array.from(
    { length: names },
    (_, index) => `${index % 2 === 0 ? 'held' : 'open'}-${String(index)}:lock`,
  );
  const end = performance.now() + ms;
  try {
    await Promise.all(stores.map((store, index) => new Client(store, watch, index).work(records, end)));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  return { ...watch.counts, rejected: [...watch.rejected], problems: [...watch.problems] };
}

/** Of a record. */
interface Holding {
  readonly client: Client;
  readonly lease: LeaseId;
}

/** All that was seen by any client, in the order in which it was seen. */
class Watch {
  readonly counts = { syncs: 0, writes: 0, applied: 0, conflicts: 0, ended: 0 };
  readonly rejected = new Set<string>();
  readonly problems = new Set<string>();
  /** Leases whose grant was answered, but for those that were seen to end. */
  readonly granted = new Set<LeaseId>();
  readonly ended = new Set<LeaseId>();
  /** What was written: `name/revision` to value. */
  readonly written = new Map<string, string>();
  /** `name/revision` that was overwritten. */
  readonly overwritten = new Set<string>();
  /** The newest revision of each record that anybody has seen. */
  readonly newest = new Map<string, number>();
  readonly holders = new Map<string, Holding>();

  constructor(readonly lifeMs: number) {}

  saw(name: string, revision: number): void {
    this.newest.set(name, Math.max(revision, this.newest.get(name) ?? 0));
  }
}

class Client {
  readonly #store: Store;
  readonly #watch: Watch;
  readonly #index: number;
  #incarnation = '';
  #leases = 0;
  #lease: LeaseId = '';
  #isGranted = false;
  /** Until when this client may believe that its lease lives. */
  deadline = 0;
  /** Old requests, to send them late. */
  readonly #old: CasRequest[] = [];

  constructor(store: Store, watch: Watch, index: number) {
    this.#store = store;
    this.#watch = watch;
    this.#index = index;
    this.#nextLease();
  }

  async work(records: readonly string[], end: number): Promise<void> {
    while (performance.now() < end) {
      // stores in this process would else leave no time to timers
      await turn();
      const read = [...new Set([0, 1, 2].map(() => pick(records)))];
      const view = await this.#sync(read);
      if (view === undefined) continue;
      await this.#write(read, view);
      if (Math.random() < 0.1) await this.#sendLate();
      // sometimes longer than the lease lives
      if (Math.random() < 0.03) await delay(this.#watch.lifeMs * (0.5 + Math.random()));
    }
  }

  #nextLease(): void {
    this.#leases += 1;
    this.#lease = `client-${String(this.#index)}.${String(this.#leases)}@${String(this.#watch.lifeMs)}`;
    this.#isGranted = false;
    this.deadline = 0;
  }

  async #sync(read: readonly string[]): Promise<SyncResult | undefined> {
    const old = this.#lease;
    const isGivenUp = this.#isGranted && Math.random() < 0.05;
    if (isGivenUp) this.#nextLease();
    const request: SyncRequest = {
      isNewcomer: this.#incarnation === '',
      renew: this.#isGranted ? [this.#lease] : [],
      grant: this.#isGranted ? [] : [this.#lease],
      revoke: isGivenUp ? [old] : [],
      read,
    };
    // a renewal that is sent twice comes last once more
    const isTwice = this.#isGranted && Math.random() < 0.1;
    const answers = await Promise.all([this.#seen(request), isTwice ? this.#seen(request) : undefined]);
    return answers[0];
  }

  /** Sends it, and compares the answer with all that was known when it left. */
  async #seen(request: SyncRequest): Promise<SyncResult | undefined> {
    const { problems, counts, granted, ended, newest, lifeMs, written } = this.#watch;
    const lease = this.#lease;
    const [endedBefore, grantedBefore, newestBefore] = [new Set(ended), new Set(granted), new Map(newest)];
    const sentAt = performance.now();
    const view = await this.#answer(this.#store.sync(request));
    if (view === undefined) return undefined;
    counts.syncs += 1;
    if (this.#incarnation !== '' && this.#incarnation !== view.incarnation.id) {
      problems.add(`incarnation ${this.#incarnation} became ${view.incarnation.id}`);
    }
    this.#incarnation = view.incarnation.id;
    for (const [id, remaining] of view.leases) {
      if (endedBefore.has(id)) problems.add(`lease ${id} lives again`);
      if (remaining > lifeMs) problems.add(`lease ${id} lives for ${String(remaining)} ms`);
    }
    for (const id of grantedBefore) if (!view.leases.has(id) && granted.delete(id)) this.#ended(id);
    for (const [i, name] of request.read.entries()) {
      const record = view.records[i];
      const [revision, value] = typeof record === 'object' ? [record.revision, record.value] : [0, undefined];
      if (revision < (newestBefore.get(name) ?? 0)) problems.add(`${name} went back to revision ${String(revision)}`);
      const expected = written.get(`${name}/${String(revision)}`);
      if (expected !== undefined && expected !== value) problems.add(`${name} has another value than was written`);
      this.#watch.saw(name, revision);
    }
    if (lease !== this.#lease) return view;
    if ((view.leases.get(lease) ?? 0) > 0) {
      if (!this.#isGranted) granted.add(lease);
      this.#isGranted = true;
      this.deadline = Math.max(this.deadline, sentAt + lifeMs * 0.9);
    } else if (this.#isGranted) {
      if (sentAt < this.deadline && performance.now() < this.deadline) problems.add(`lease ${lease} ended too early`);
      this.#nextLease();
    }
    return view;
  }

  #ended(lease: LeaseId): void {
    this.#watch.ended.add(lease);
    this.#watch.counts.ended += 1;
  }

  async #write(read: readonly string[], view: SyncResult): Promise<void> {
    const lease = this.#lease;
    const writes = read.flatMap((name, i) => this.#wish(name, view.records[i], view.leases));
    // half of them could still be carried out when they are sent late, but for their revisions
    const until = view.time + pick([this.#watch.lifeMs, 60_000]);
    const request = { incarnation: view.incarnation.id, until, writes };
    for (const { name, value } of writes) if (holderIn(value) === undefined) this.#letGo(name, lease);
    const isTwice = Math.random() < 0.1;
    const [revisions] = await Promise.all([this.#applied(request), isTwice ? this.#applied(request) : undefined]);
    this.#old.push(request);
    for (const [i, { name, value }] of writes.entries()) {
      if (revisions?.[i] !== undefined && holderIn(value) !== undefined) this.#hold(name, lease);
    }
  }

  /** Writes a record that is open or its own, takes a free one, releases one, and sometimes tries an old revision. */
  #wish(name: string, record: SyncResult['records'][number], leases: SyncResult['leases']): Write[] {
    const [revision, holder] = typeof record === 'object' ? [record.revision, holderIn(record.value)] : [0, undefined];
    const write = (ifRevision: number, newHolder: LeaseId | undefined): Write[] => [
      { name, ifRevision, value: JSON.stringify({ holder: newHolder, by: this.#index, n: Math.random() }) },
    ];
    if (!name.startsWith('held')) return write(revision, undefined);
    if (holder === this.#lease) return write(revision, Math.random() < 0.5 ? undefined : holder);
    if (holder === undefined || !leases.has(holder)) return write(revision, this.#lease);
    return Math.random() < 0.2 ? write(pick([0, revision - 1]), this.#lease) : [];
  }

  /** Sends it, and checks that nobody has overwritten the same revision. */
  async #applied(request: CasRequest): Promise<readonly (number | undefined)[] | undefined> {
    const { problems, counts, written, overwritten } = this.#watch;
    const revisions = await this.#answer(this.#store.compareAndSet(request));
    if (revisions === undefined) return undefined;
    counts.writes += 1;
    if (revisions.length !== request.writes.length) problems.add('a write without an answer');
    for (const [i, { name, ifRevision, value }] of request.writes.entries()) {
      const revision = revisions[i];
      if (revision === undefined) {
        counts.conflicts += 1;
        continue;
      }
      counts.applied += 1;
      const [old, now] = [`${name}/${String(ifRevision)}`, `${name}/${String(revision)}`];
      if (overwritten.has(old)) problems.add(`two winners of ${old}`);
      if (written.has(now)) problems.add(`${now} came twice`);
      if (revision <= ifRevision)
        problems.add(`${name} went from revision ${String(ifRevision)} to ${String(revision)}`);
      overwritten.add(old);
      written.set(now, value);
      this.#watch.saw(name, revision);
    }
    return revisions;
  }

  /** A request that everybody has forgotten: its records have other revisions now. */
  async #sendLate(): Promise<void> {
    const index = Math.floor(Math.random() * this.#old.length);
    const [request] = this.#old.splice(index, 1);
    if (request !== undefined) await this.#applied(request);
  }

  /** From now this client believes that it holds the record. */
  #hold(name: string, lease: LeaseId): void {
    const now = performance.now();
    if (lease !== this.#lease || now >= this.deadline) return;
    const holder = this.#watch.holders.get(name);
    if (holder !== undefined && holder.client !== this && holder.client.#believes(holder.lease, now)) {
      this.#watch.problems.add(`${name} has two holders: ${holder.lease} and ${lease}`);
    }
    this.#watch.holders.set(name, { client: this, lease });
  }

  #letGo(name: string, lease: LeaseId): void {
    const { holders } = this.#watch;
    if (holders.get(name)?.lease === lease) holders.delete(name);
  }

  #believes(lease: LeaseId, now: number): boolean {
    return lease === this.#lease && now < this.deadline;
  }

  async #answer<T>(request: Promise<T>): Promise<T | undefined> {
    try {
      return await request;
    } catch (error: unknown) {
      this.#watch.rejected.add(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}

function holderIn(value: string): LeaseId | undefined {
  return (JSON.parse(value) as { holder?: LeaseId }).holder;
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}
