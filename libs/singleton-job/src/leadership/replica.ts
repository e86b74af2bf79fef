import { type JobEvents, type Reason } from '../base/events/events.js';
import { type Clock, type Timer } from '../base/time/clock.js';
import { detached } from '../base/time/detached.js';
import { sleep } from '../base/time/sleep.js';
import { within } from '../base/time/within.js';
import { replicaOf } from '../store/lease-id.js';
import { type Store, type StoreListener, type SyncResult } from '../store/store.js';
import { type Candidate } from './candidate.js';
import * as decide from './decide.js';
import { Election } from './election.js';
import { HeartbeatThreadLink, type HeartbeatThreadPort } from './heartbeat-thread-link.js';
import { Heartbeat, type Sync } from './heartbeat.js';
import { ReplicaLeases } from './lease.js';
import { type ObservedRecord, observedRecord } from './record.js';
import { Requests } from './requests.js';
import { type Term } from './term.js';
import { StoreView } from './view.js';
import { Outbox } from './writes.js';

/** How long a close waits for its last requests. */
const CLOSE_MS = 500;

/** How a term was released. */
export type TermRelease = Pick<JobEvents['leadershipReleased'], 'reason' | 'confirmed' | 'runInFlight'>;

/** What a replica tells. */
export interface ReplicaObserver {
  gained?(term: Term): void;
  /** Not called for a term that was released. */
  lost?(term: Term, reason: Reason<'leadershipLost'>): void;
  /** The record was written without the holder, or it ends with its lease: then it is not confirmed. */
  released?(term: Term, release: TermRelease): void;
  /** An answer of the store, which another replica may have written. */
  recordSeen?(election: Election, record: ObservedRecord): void;
  /** The election has looked at what was seen. */
  reconciled?(election: Election): void;
  /** The election can neither take nor keep the record. Called once until it has taken it again. */
  failed?(election: Election, error: unknown): void;
  /** Called before its records are looked at. `isNew`: it shows another incarnation than the answer before. */
  synced?(sync: Sync, result: SyncResult, isNew: boolean): void;
  syncFailed?(error: unknown): void;
  /** A request to write was answered, or failed. Called before its records are looked at. */
  wrote?(failure: unknown): void;
}

/** What a replica is made of. */
export interface ReplicaParts {
  /** The name of this process in leases: different for each process. */
  readonly id: string;
  /** `lockExpiry` of the module. */
  readonly ttlMs: number;
  readonly heartbeatIntervalMs: number;
  readonly store: Store;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly observer: ReplicaObserver;
  readonly heartbeatThread?: HeartbeatThreadPort | undefined;
}

/**
 * One process: what it has seen, its leases, and its elections in one table with one timer. Whatever happens ends in a
 * turn: deadlines first, then each election looks, then what they want to write and to read leaves.
 */
export class Replica implements StoreListener {
  readonly id = this.parts.id;
  readonly clock = this.parts.clock;
  /** For messages, such as `Redis`. */
  readonly storeName = this.parts.store.name;
  readonly random = this.parts.random;
  readonly observer = this.parts.observer;
  readonly storeView = new StoreView(this.id, this.clock);
  readonly heartbeat = new Heartbeat(this.clock, this.parts.heartbeatIntervalMs, this.random);
  readonly leases = new ReplicaLeases(this.id, this.clock, this.heartbeat);
  readonly outbox = new Outbox(this, this.parts.store);
  readonly #requests = new Requests(this.clock);
  readonly heartbeatThread = this.parts.heartbeatThread && new HeartbeatThreadLink(this.parts.heartbeatThread, this);
  /** Counted once a turn, when the first election needs it. */
  #loads: ReadonlyMap<string, number> | undefined;
  /** By the name of the record: those in use, and those whose last write is not certain yet. */
  readonly #elections = new Map<string, Election>();
  /** Reads of callers that are not complete, such as an overview: `done` aborts when every name was found. */
  readonly #reads = new Set<{
    names: ReadonlySet<string>;
    found: Map<string, ObservedRecord>;
    done: AbortController;
  }>();
  /** Open: syncs leave. Closing: only the last requests leave. Closed: no answer is read any more. */
  #state: 'new' | 'open' | 'closing' | 'closed' = 'new';
  /** A turn is scheduled, and has not begun. */
  #isScheduled = false;
  /** A turn is under way. What changes now needs no other one: this turn sends it and sets the timer. */
  #isReconciling = false;
  /** The timer for the next turn, and when it fires, by the monotonic clock. */
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  /** Why the last sync had no answer. Undefined: it had one. */
  failure: unknown;
  /** What every call of {@link close} returns. */
  #closed: Promise<void> | undefined;

  constructor(private readonly parts: ReplicaParts) {
    parts.store.addListener(this);
  }

  get isClosing(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  get elections(): readonly Election[] {
    return [...this.#elections.values()];
  }

  /** Begins to connect, once. Neither waits for the store nor fails without it. */
  open(): void {
    if (this.#state !== 'new') return;
    this.#state = 'open';
    detached(() => {
      this.parts.store.open();
    });
    this.#schedule();
  }

  /** The election for a candidate. It does not compete yet. */
  electionFor(candidate: Candidate): Election {
    const election = this.find(candidate.name) ?? new Election(candidate, this);
    // edits and late writes of an earlier one go on
    election.candidate = candidate;
    this.#elections.set(candidate.name, election);
    return election;
  }

  /** The election of this record, if this replica has one. */
  find(name: string): Election | undefined {
    return this.#elections.get(name);
  }

  /** Reads records now, whether this replica competes for them or not. Undefined: no answer within `limitMs`. */
  async read(names: readonly string[], limitMs: number): Promise<ReadonlyMap<string, ObservedRecord> | undefined> {
    if (names.length === 0) return new Map();
    const read = { names: new Set(names), found: new Map<string, ObservedRecord>(), done: new AbortController() };
    this.#reads.add(read);
    for (const name of names) this.heartbeat.requestRead(name);
    this.#schedule();
    await sleep(this.clock, limitMs, read.done.signal);
    this.#reads.delete(read);
    return read.found.size === read.names.size ? read.found : undefined;
  }

  /**
   * Ends leases under which nothing runs, and closes the connections. What runs keeps its lease, which ends by itself.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const { store, heartbeatThread } = this.parts;
    const wasOpen = this.#state === 'open';
    this.#state = 'closing';
    if (wasOpen && !this.storeView.isEmpty)
      await within(this.clock, CLOSE_MS, this.#sayGoodbye()).catch(() => undefined);
    this.#state = 'closed';
    this.#timer?.timer.cancel();
    this.#requests.close();
    for (const election of this.elections) election.closeNow();
    for (const { done } of this.#reads) done.abort();
    await Promise.all([wasOpen ? store.close() : undefined, heartbeatThread?.close()]);
  }

  async #sayGoodbye(): Promise<void> {
    for (const election of this.#elections.values()) election.reconcileAt = -Infinity;
    this.reconcileAll();
    await this.outbox.whenAnswered();
    // what is not released by now ends with its lease, unless something of it runs
    for (const election of this.elections) if (election.candidate.isIdle) election.closeNow();
    const inUse = new Set(this.elections.flatMap(({ term }) => term?.lease.id ?? []));
    const revoke = this.leases.all.map(({ id }) => id).filter((id) => !inUse.has(id));
    if (revoke.length > 0) await this.parts.store.sync({ isNewcomer: false, renew: [], grant: [], revoke, read: [] });
  }

  // ---- Turns

  /** The election is to be looked at, now or at its time. */
  enqueued(election: Election): void {
    if (this.#state === 'closed') {
      election.closeNow();
      return;
    }
    // one that was over is used again
    if (!this.#elections.has(election.name)) this.#elections.set(election.name, election);
    // a turn looks at all elections, so a run that has something to save later begins none
    if (election.reconcileAt > this.clock.now()) this.#wakeAt(election.reconcileAt);
    else this.#schedule();
  }

  /** A sync leaves at once. */
  syncNow(): void {
    this.heartbeat.requestSync();
    this.#schedule();
  }

  /**
   * Many events of one turn of the event loop make one turn here, and what has arrived from the store is read before.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#isReconciling || this.#state === 'new' || this.#state === 'closed') return;
    this.#isScheduled = true;
    void detached(() =>
      this.clock.afterIo().then(() => {
        this.#isScheduled = false;
        this.reconcileAll();
      }),
    );
  }

  /** `what`: an answer of the store, which is not read any more after the close. */
  reconcileAll(what?: () => void): void {
    if (this.#state === 'closed') return;
    this.#isReconciling = true;
    try {
      what?.();
      this.heartbeatThread?.takeReports();
      this.leases.expire();
      for (const election of this.#elections.values()) election.expire();
      this.#reconcileElections();
    } finally {
      this.#isReconciling = false;
    }
  }

  #reconcileElections(): void {
    const now = this.clock.now();
    const { elections } = this;
    this.#loads = undefined;
    for (const election of elections) {
      if (election.reconcileAt > now) continue;
      election.reconcile();
      if (election.isOver) this.#elections.delete(election.name);
    }
    this.#grantLeases();
    this.heartbeat.adapt(this.#shortestLifeMs);
    if (now >= this.heartbeat.dueAt && this.#state === 'open') void this.#sync();
    this.outbox.send();
    this.#setTimer();
    this.heartbeatThread?.send();
  }

  #setTimer(): void {
    let at = this.heartbeat.dueAt;
    for (const { reconcileAt, term } of this.#elections.values())
      at = Math.min(at, reconcileAt, term?.reclaim?.by.now ?? Infinity);
    for (const { deadline } of this.leases.all) if (deadline !== undefined) at = Math.min(at, deadline.now);
    this.#wakeAt(at);
  }

  /** Begins a turn then, by the monotonic clock, unless an earlier one is due. */
  #wakeAt(at: number): void {
    if (this.#state !== 'open' || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    const { clock } = this;
    const timer = clock.setTimer(Math.max(at - clock.now(), 0), () => {
      this.#timer = undefined;
      this.#schedule();
    });
    this.#timer = { at, timer };
  }

  // ---- Leases

  /** One lease of the module, and one for each other `lockExpiry`, from the first use on. */
  #grantLeases(): void {
    if (this.isClosing) return;
    const { leases } = this;
    for (const { candidate, isWanted } of this.#elections.values()) if (isWanted) leases.of(candidate.ttlMs);
    if (leases.all.length > 0) leases.of(this.parts.ttlMs);
    else if (this.#needsIncarnation) this.heartbeat.requestSync();
  }

  /** For a command of a replica that competes for no record. */
  get #needsIncarnation(): boolean {
    return this.storeView.hasNoIncarnation && this.#elections.size > 0;
  }

  get #shortestLifeMs(): number {
    return Math.min(this.parts.ttlMs, ...this.leases.all.map(({ ttlMs }) => ttlMs));
  }

  /**
   * The process ends: no run starts from now on. If it survives that, its terms end in the next turn of the event loop.
   */
  expireAll(): void {
    this.leases.expireAll();
    this.#schedule();
  }

  // ---- Heartbeat

  connected(): void {
    this.heartbeat.retryNow();
    this.hint('*');
  }

  listening(isListening: boolean): void {
    this.heartbeat.hasNoHints = !isListening;
    this.hint('*');
  }

  /** These records, or all, may have changed. */
  hint(names: readonly string[] | '*'): void {
    const elections = names === '*' ? this.elections : names.flatMap((name) => this.#elections.get(name) ?? []);
    if (elections.length === 0) return;
    const at = elections.some(({ isInHurry }) => isInHurry) ? -Infinity : this.heartbeat.jitteredAt;
    for (const { name } of elections) this.heartbeat.requestRead(name, at);
    this.#schedule();
  }

  /** How long to wait before a take of a job. */
  takeDelayMs(): number {
    this.#loads ??= this.countLoads();
    return decide.takeDelayMs(this.id, this.#loads, this.random);
  }

  /** How many jobs each replica leads that is alive, as far as this one knows. */
  countLoads(): Map<string, number> {
    const loads = new Map([...this.storeView.leases.keys()].map((lease) => [replicaOf(lease), 0]));
    for (const { candidate, leader } of this.#elections.values()) {
      if (leader === undefined || !candidate.isBalanced) continue;
      const load = loads.get(leader);
      if (load !== undefined) loads.set(leader, load + 1);
    }
    return loads;
  }

  async #sync(): Promise<void> {
    const names = [...this.#elections.keys()];
    const always = this.elections.filter(({ writer }) => writer.hasUnconfirmedWrite).map(({ name }) => name);
    const { renew, grant } = this.leases.requests;
    // who keeps no lease has one for the request only, which notes the incarnation
    const passing = this.leases.all.length === 0 && this.#needsIncarnation ? [this.leases.newId(this.parts.ttlMs)] : [];
    const leases = { isNewcomer: this.storeView.isEmpty, renew, grant: [...grant, ...passing], revoke: passing };
    const isOfUse = (name: string): boolean =>
      this.#elections.has(name) || [...this.#reads].some((read) => read.names.has(name));
    const sync = this.heartbeat.next(leases, names, always, isOfUse);
    try {
      const result = await this.send((store) => store.sync(sync.request));
      // an answer that has not the form of one counts as a failure too
      this.reconcileAll(() => {
        this.#answered(sync, result);
      });
    } catch (error) {
      this.reconcileAll(() => {
        this.failure = error;
        this.heartbeat.failed(sync);
        this.observer.syncFailed?.(error);
      });
    }
  }

  /** The answer of the store. After a life of the shortest lease none is of use. */
  async send<T>(request: (store: Store) => Promise<T>): Promise<T> {
    return this.#requests.send(this.#shortestLifeMs, async () => request(this.parts.store));
  }

  #answered(sync: Sync, result: SyncResult): void {
    const { request, sent, sequence } = sync;
    const isNew = this.storeView.observe(result, sent);
    this.heartbeat.answered(this.storeView.replicas);
    this.failure = undefined;
    this.observer.synced?.(sync, result, isNew);
    if (isNew) {
      // this answer extends no lease: a full sync follows, which asks for all that is still trusted, and for what each
      // election looks at
      this.leases.incarnationChanged();
      for (const election of this.#elections.values()) election.incarnationChanged();
      for (const name of request.read) this.heartbeat.requestRead(name);
    } else {
      this.leases.answered(sync, result);
      for (const [index, name] of request.read.entries())
        this.#seen(name, observedRecord(result.records[index]), sequence);
    }
    for (const election of this.#elections.values()) {
      election.term?.syncAnswered();
      if (this.storeView.hasOtherLeases) election.reconcileAt = -Infinity;
    }
  }

  #seen(name: string, record: ObservedRecord, sequence: number): void {
    this.#elections.get(name)?.observe(record, sequence);
    for (const { names, found, done } of this.#reads) {
      if (names.has(name)) found.set(name, record);
      if (names.size === found.size) done.abort();
    }
  }
}
