import { type Clock, type Timer } from '../base/time/clock.js';
import { detached } from '../base/time/detached.js';
import { sleep, within } from '../base/time/sleep.js';
import { replicaOf } from '../store/lease-id.js';
import { type Store, type StoreListener, type SyncResult } from '../store/store.js';
import { type Candidate } from './candidate.js';
import { type ContextParts, LeadershipContext } from './context.js';
import * as decide from './decide.js';
import { Election, type ElectionTable } from './election.js';
import { type Sync } from './heartbeat.js';
import { type ObservedRecord, observedRecord, PAUSE_OF_ALL } from './record.js';
import { Requests } from './requests.js';
import { Outbox } from './writes.js';

/** How long a close waits for its last requests. */
const CLOSE_MS = 500;

/** What a replica is made of. */
interface ReplicaParts extends Omit<ContextParts, 'storeName'> {
  readonly store: Store;
}

/** A read of a caller, such as an overview. `done` aborts when every name was found. */
interface Read {
  readonly names: ReadonlySet<string>;
  /** The sequence of now: an answer to an earlier sync may lack what has happened since. */
  readonly since: number;
  readonly found: Map<string, ObservedRecord>;
  readonly done: AbortController;
}

/**
 * One process: its elections in one table with one timer. Whatever happens, all is reconciled: deadlines first, then
 * each election decides, then what they want to write and to read leaves.
 */
export class Replica implements ElectionTable, StoreListener {
  readonly context: LeadershipContext;
  readonly #store: Store;
  readonly #requests: Requests;
  readonly #outbox: Outbox;
  /** Counted once a pass, when the first election needs it. */
  #loads: ReadonlyMap<string, number> | undefined;
  /** By the name of the record: those in use, and those whose last write is not certain yet. */
  readonly #elections = new Map<string, Election>();
  readonly pauseOfAll: Election;
  /** The pause of all jobs as the jobs were reconciled with it. Undefined: it was not known. */
  #reconciledPause: string | undefined;
  readonly #reads = new Set<Read>();
  /** Open: syncs leave. Closing: only the last requests leave. Closed: no answer is read any more. */
  #state: 'new' | 'open' | 'closing' | 'closed' = 'new';
  /** A pass is scheduled, and has not begun. */
  #isScheduled = false;
  /** A pass is under way. What changes now needs no other one: this one sends it and sets the timer. */
  #isReconciling = false;
  /** The timer for the next pass, and when it fires, by the monotonic clock. */
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  /** What every call of {@link close} returns. */
  #closed: Promise<void> | undefined;
  /** Why the last sync had no answer. Undefined: it had one. */
  failure: unknown;

  constructor({ store, ...parts }: ReplicaParts) {
    this.context = new LeadershipContext({ ...parts, storeName: store.name }, () => {
      this.#schedule();
    });
    this.#store = store;
    this.#requests = new Requests(this.context, store);
    this.#outbox = new Outbox(this.context, this.#requests, (answer) => {
      this.reconcileAll(answer);
    });
    const { ttlMs } = parts;
    // the first in the table, so that a pass reconciles the jobs after it. It is always read, and never taken
    const candidate = { name: PAUSE_OF_ALL, isBalanced: false, isIdle: true, ttlMs, lead: () => undefined };
    this.pauseOfAll = this.electionFor(candidate);
  }

  #pauseReconciled(): void {
    const { isKnown, observed } = this.pauseOfAll;
    const now = isKnown ? JSON.stringify([observed.pause, observed.hasEndedPause]) : undefined;
    if (now === this.#reconciledPause) return;
    this.#reconciledPause = now;
    for (const election of this.#elections.values()) if (election !== this.pauseOfAll) election.markDue();
  }

  /** The name of this process in leases. */
  get id(): string {
    return this.context.id;
  }

  get clock(): Clock {
    return this.context.clock;
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
      this.#store.open();
    });
    this.#schedule();
  }

  /** The election for a candidate. It does not compete yet. */
  electionFor(candidate: Candidate): Election {
    const existing = this.find(candidate.name);
    existing?.replaceCandidate(candidate);
    const election = existing ?? new Election(candidate, this.context, this, this.#outbox);
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
    const { heartbeat } = this.context;
    const since = heartbeat.nextSequence();
    const read: Read = { names: new Set(names), since, found: new Map(), done: new AbortController() };
    this.#reads.add(read);
    for (const name of names) heartbeat.requestRead(name);
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
    const wasOpen = this.#state === 'open';
    this.#state = 'closing';
    if (wasOpen && !this.context.storeView.isEmpty)
      await within(this.clock, CLOSE_MS, this.#sayGoodbye()).catch(() => undefined);
    this.#state = 'closed';
    this.#timer?.timer.cancel();
    this.#requests.close();
    for (const election of this.elections) election.closeNow();
    for (const { done } of this.#reads) done.abort();
    if (wasOpen) await this.#store.close();
  }

  async #sayGoodbye(): Promise<void> {
    for (const election of this.#elections.values()) election.markDue();
    this.reconcileAll();
    await this.#outbox.whenAnswered();
    // what is not released by now ends with its lease, unless something of it runs
    for (const election of this.elections) if (election.candidate.isIdle) election.closeNow();
    const inUse = new Set(this.elections.flatMap(({ term }) => term?.lease.id ?? []));
    const revoke = this.context.leases.all.map(({ id }) => id).filter((id) => !inUse.has(id));
    if (revoke.length > 0) await this.#requests.sync({ isNewcomer: false, renew: [], grant: [], revoke, read: [] });
  }

  // ---- Passes

  enqueue(election: Election): void {
    if (this.#state === 'closed') {
      election.closeNow();
      return;
    }
    // one that was over is used again
    if (!this.#elections.has(election.name)) this.#elections.set(election.name, election);
    // a pass reconciles all elections, so a run that has something to save later begins none
    if (election.reconcileAt > this.clock.now()) this.#wakeAt(election.reconcileAt);
    else this.#schedule();
  }

  /**
   * Many events of one turn of the event loop make one pass here, and what has arrived from the store is read before.
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
      this.context.heartbeatThread?.takeReports();
      this.context.leases.expire();
      for (const election of this.#elections.values()) election.expire();
      this.#reconcileElections();
    } finally {
      this.#isReconciling = false;
    }
  }

  #reconcileElections(): void {
    const { heartbeat, heartbeatThread } = this.context;
    const now = this.clock.now();
    const { elections } = this;
    this.#loads = undefined;
    for (const election of elections) {
      if (election.reconcileAt > now) continue;
      election.reconcile();
      if (election === this.pauseOfAll) this.#pauseReconciled();
      else if (election.isOver) this.#elections.delete(election.name);
    }
    this.#grantLeases();
    heartbeat.adapt(this.context.shortestTtlMs);
    if (now >= heartbeat.dueAt && this.#state === 'open') void this.#sync();
    this.#outbox.send();
    this.#setTimer();
    heartbeatThread?.send();
  }

  #setTimer(): void {
    let at = this.context.heartbeat.dueAt;
    for (const { reconcileAt, term } of this.#elections.values())
      at = Math.min(at, reconcileAt, term?.reclaim?.by.now ?? Infinity);
    for (const { deadline } of this.context.leases.all) if (deadline !== undefined) at = Math.min(at, deadline.now);
    this.#wakeAt(at);
  }

  /** Begins a pass then, by the monotonic clock, unless an earlier one is due. */
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
    const { heartbeat, leases, ttlMs } = this.context;
    for (const { candidate, isWanted } of this.#elections.values()) if (isWanted) leases.of(candidate.ttlMs);
    if (leases.all.length > 0) leases.of(ttlMs);
    else if (this.#needsIncarnation) heartbeat.requestSync();
  }

  /** For a command of a replica that competes for no record. */
  get #needsIncarnation(): boolean {
    return this.context.storeView.hasNoIncarnation && this.elections.some(({ isOver }) => !isOver);
  }

  /**
   * The process ends: no run starts from now on. If it survives that, its terms end in the next turn of the event loop.
   */
  expireAll(): void {
    this.context.leases.expireAll();
    this.#schedule();
  }

  // ---- Heartbeat

  connected(): void {
    this.context.heartbeat.retryNow();
    this.hint('*');
  }

  listening(isListening: boolean): void {
    this.context.heartbeat.listening(isListening);
    this.hint('*');
  }

  disconnected(error: Error): void {
    this.context.outages.report(error);
  }

  warning(warning: { readonly code: string; readonly message: string }): void {
    this.context.notify('warning', warning);
  }

  /** These records, or all, may have changed. */
  hint(names: readonly string[] | '*'): void {
    const elections = names === '*' ? this.elections : names.flatMap((name) => this.#elections.get(name) ?? []);
    if (elections.length === 0) return;
    const isInHurry = names.includes(PAUSE_OF_ALL) || elections.some((election) => election.isInHurry);
    const at = isInHurry ? -Infinity : this.context.heartbeat.jitteredAt;
    for (const { name } of elections) this.context.heartbeat.requestRead(name, at);
    this.#schedule();
  }

  /** How long to wait before a take of a job. */
  takeDelayMs(): number {
    this.#loads ??= this.countLoads();
    return decide.takeDelayMs(this.id, this.#loads, this.context.random);
  }

  /** How many jobs each replica leads that is alive, as far as this one knows. */
  countLoads(): Map<string, number> {
    const loads = new Map([...this.context.storeView.leases.keys()].map((lease) => [replicaOf(lease), 0]));
    for (const { candidate, leader } of this.#elections.values()) {
      if (leader === undefined || !candidate.isBalanced) continue;
      const load = loads.get(leader);
      if (load !== undefined) loads.set(leader, load + 1);
    }
    return loads;
  }

  async #sync(): Promise<void> {
    const names = [...this.#elections.keys()].filter((name) => name !== PAUSE_OF_ALL);
    const always = this.elections.filter(({ writer }) => writer.hasUnconfirmedWrite).map(({ name }) => name);
    const { renew, grant } = this.context.leases.requests;
    // who keeps no lease has one for the request only, which notes the incarnation
    const passing =
      this.context.leases.all.length === 0 && this.#needsIncarnation
        ? [this.context.leases.newId(this.context.ttlMs)]
        : [];
    const leases = {
      isNewcomer: this.context.storeView.isEmpty,
      renew,
      grant: [...grant, ...passing],
      revoke: passing,
    };
    const isOfUse = (name: string): boolean =>
      this.#elections.has(name) || [...this.#reads].some((read) => read.names.has(name));
    const sync = this.context.heartbeat.next(leases, names, always, isOfUse);
    try {
      const result = await this.#requests.sync(sync.request);
      // an answer that has not the form of one counts as a failure too
      this.reconcileAll(() => {
        this.#answered(sync, result);
      });
    } catch (error) {
      this.reconcileAll(() => {
        this.failure = error;
        this.context.heartbeat.failed(sync);
        this.context.outages.requestFailed(error);
      });
    }
  }

  #answered(sync: Sync, result: SyncResult): void {
    const { request, sent, sequence } = sync;
    const { clock, heartbeat, leases, notify, outages, storeView } = this.context;
    const isNew = storeView.observe(result, sent);
    heartbeat.answered(storeView.replicas);
    this.failure = undefined;
    outages.answered(sent.now, isNew);
    // assuming that request and answer take equally long
    const clockOffsetMs = result.time - (sent.wall + clock.wallNow()) / 2;
    notify('heartbeatAnswered', { roundTripMs: clock.now() - sent.now, clockOffsetMs });
    if (isNew) {
      // this answer extends no lease: a full sync follows, which asks for all that is still trusted, and for what each
      // election reconciles
      leases.incarnationChanged();
      for (const election of this.#elections.values()) election.incarnationChanged();
      for (const name of request.read) heartbeat.requestRead(name);
    } else {
      leases.answered(sync, result);
      for (const [index, name] of request.read.entries())
        this.#seen(name, observedRecord(result.records[index], storeView.incarnation.id), sequence);
    }
    for (const election of this.#elections.values()) {
      election.term?.syncAnswered();
      if (storeView.hasOtherLeases) election.markDue();
    }
  }

  #seen(name: string, record: ObservedRecord, sequence: number): void {
    this.#elections.get(name)?.observe(record, sequence);
    for (const { names, since, found, done } of this.#reads) {
      if (names.has(name) && sequence > since) found.set(name, record);
      if (names.size === found.size) done.abort();
    }
  }
}
