import { type LeadershipReleaseReason } from '../base/events/reasons.js';
import { instant, type Instant } from '../base/time/clock.js';
import { type Order } from './decide.js';
import { type Election } from './election.js';
import { isBefore, type Lease } from './lease.js';
import { type Command, type Holder, type JobRecord, type OwnFields, type SeenRecord, shows } from './record.js';
import { type Replica } from './replica.js';

/** A term writes what can wait so often, all terms of a replica in one request. */
const SAVE_MS = 10_000;

/** How a term ended: given back, taken by another holder, not confirmed in time, or left to expire by a process that ends. */
export type TermEnd = 'released' | 'preempted' | 'expired' | 'abandoned';

/** What a new leader finds. */
export interface Backlog {
  /** The record before the take. Undefined: there was none. */
  readonly record: JobRecord | undefined;
  /** What earlier leaders left in it, and what this replica remembers of its own last term. */
  readonly left: OwnFields;
  /** The replica that held the record when its lease ended, and is not this one. Undefined: the record was released. */
  readonly lastHolder: string | undefined;
  /** Occurrences up to then may have been claimed in data that are gone. 0: no claim is lost. */
  readonly claimsLostUntil: number;
  /** The time of the store when the record was taken. */
  readonly takenAt: number;
}

interface Save {
  readonly fields: OwnFields;
  readonly settle: (isSaved: boolean) => void;
  /** The fields before a claim. */
  readonly undo: OwnFields | undefined;
}

/** What a term begins with. */
type TermFacts = Pick<Term, 'name' | 'holder' | 'fencingToken' | 'lease' | 'backlog' | 'own' | 'ignoredCommand'>;

/**
 * One uninterrupted leadership: a take that was applied. A run starts only while {@link isValid}, and {@link signal} aborts it. What the record
 * should say is set here, and the election writes it.
 */
export class Term {
  /** Name of the record. */
  readonly name: string;
  readonly holder: Holder;
  /** Larger than that of every earlier term of the job. */
  readonly fencingToken: number;
  readonly lease: Lease;
  /** What earlier leaders have left. */
  readonly backlog: Backlog;
  readonly startedAt: Instant;
  /** The leader's fields as the record should have them. A run that outlives the term still sets its own, and the next write has them. */
  own: OwnFields;
  /** Since when the record may lack something of `own`, by the monotonic clock. Infinity: it lacks nothing. */
  #unsavedSince = Infinity;
  /** A command whose outcome is to be written. */
  order: Order | undefined;
  /** A command that was there when the term began, or that was carried out. */
  ignoredCommand: string | undefined;
  /** In a new incarnation, until the record has been written again: the deadline from before, and the record as seen before. */
  reclaim: { readonly by: Instant; readonly before: SeenRecord } | undefined;
  /** Why it is given back. Undefined: it is not. */
  release: { readonly reason: LeadershipReleaseReason; readonly standBackMs: number } | undefined;
  readonly #ending = new AbortController();
  #end: { readonly how: TermEnd; readonly deadline: Instant } | undefined;
  #saves: Save[] = [];
  #doubts: (() => void)[] = [];

  constructor(
    { name, holder, fencingToken, lease, backlog, own, ignoredCommand }: TermFacts,
    private readonly replica: Pick<Replica, 'clock' | 'view' | 'takeReports' | 'syncNow'>,
    private readonly election: Pick<Election, 'touch'>,
  ) {
    this.name = name;
    this.holder = holder;
    this.fencingToken = fencingToken;
    this.lease = lease;
    this.backlog = backlog;
    this.own = own;
    this.ignoredCommand = ignoredCommand;
    this.startedAt = instant(replica.clock);
  }

  /** Aborts when the term is over, for any reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** How it ended. Undefined until then. */
  get end(): TermEnd | undefined {
    return this.#end?.how;
  }

  /** Until then no other replica can lead, unless the record is released or deleted. It does not change after the end of the term. */
  get deadline(): Instant {
    return this.#end?.deadline ?? this.reclaim?.by ?? this.lease.deadline ?? this.startedAt;
  }

  /** Milliseconds until the deadline, by the monotonic clock. */
  get remainingMs(): number {
    return this.deadline.now - this.replica.clock.now();
  }

  /** The time of the store. */
  storeNow(): number {
    return this.replica.view.storeNow();
  }

  /** The same at most. Later leaders count the delay of an interval from the end of a run by this, so that it is never too short. */
  storeNowAtMost(): number {
    return this.replica.view.storeNowAtMost();
  }

  /** Whether a run may start now: the deadline has not passed on either clock. Called again before each run. If not, a sync leaves at once. */
  isValid(): boolean {
    const { replica } = this;
    if (this.#end !== undefined) return false;
    if (isBefore(replica.clock, this.deadline)) return true;
    replica.takeReports();
    if (isBefore(replica.clock, this.deadline)) return true;
    replica.syncNow();
    return false;
  }

  /** Resolves when {@link isValid}, or when the term is over. */
  async untilValid(): Promise<void> {
    while (this.#end === undefined && !this.isValid()) {
      await new Promise<void>((resolve) => this.#doubts.push(resolve));
    }
  }

  /** Fields that the record gets within 10 s, in one request with those of all terms. */
  set(fields: OwnFields): void {
    this.own = { ...this.own, ...fields };
    this.#unsavedSince = Math.min(this.#unsavedSince, this.replica.clock.now());
    this.election.touch();
  }

  /** Fields that the record gets at once. Resolves to true when the record has them, and to false when the term is over before. */
  save(fields: OwnFields): Promise<boolean> {
    return this.#save(fields);
  }

  /** The same, before a run starts. Resolves to false, with the fields as before, if the record shows a pause first. */
  claim(fields: OwnFields): Promise<boolean> {
    const { lastScheduledAt, run } = this.own;
    return this.#save(fields, { lastScheduledAt, run });
  }

  #save(fields: OwnFields, undo?: OwnFields): Promise<boolean> {
    this.set(fields);
    if (this.#end !== undefined) return Promise.resolve(false);
    return new Promise<boolean>((settle) => {
      this.#saves.push({ fields, settle, undo });
    });
  }

  /** When what the record may lack is to be written, by the monotonic clock. What can wait is written at a time that all terms share. */
  get saveAt(): number {
    return this.#saves.length > 0 ? -Infinity : (Math.floor(this.#unsavedSince / SAVE_MS) + 1) * SAVE_MS;
  }

  /** By the election: the record as it is. It has what was saved, or what came after that. */
  shown(value: JobRecord): void {
    const isAll = shows(value, this.own);
    if (isAll) this.#unsavedSince = Infinity;
    this.#saves = this.#saves.filter(({ fields, settle }) => {
      const isShown = isAll || shows(value, fields);
      if (isShown) settle(true);
      return !isShown;
    });
  }

  /** By the election: another incarnation. The record is to be written again. */
  meet(before: SeenRecord): void {
    this.reclaim ??= { by: this.deadline, before };
  }

  /** By the election: carries out the command whose answer the record shows. */
  carryOut({ holder, command, run }: JobRecord = {}): void {
    const { order } = this;
    if (order === undefined || holder !== this.holder) return;
    // the next command may be there already
    const isShown =
      command?.id === order.id
        ? command.outcome !== undefined
        : order.fields !== undefined && shows({ ...(run && { run }) }, order.fields);
    if (!isShown) return;
    this.#ignore(order);
    if (order.fields !== undefined) this.own = { ...this.own, ...order.fields };
    order.act?.();
  }

  /** By the election: whether an answer is to be written. One that the record does not show is given up, when it cannot arrive any more. */
  isAnswering(command: Command | undefined, storeTime: number): boolean {
    const { order } = this;
    if (order === undefined) return false;
    if (command?.id === order.id && storeTime < order.until) return true;
    this.#ignore(order);
    order.cancel?.();
    return false;
  }

  /** Once, also if an old snapshot shows it again. */
  #ignore({ id }: Order): void {
    this.order = undefined;
    this.ignoredCommand = id;
  }

  /** By the election: it gives the job back, and starts no run for a command. */
  refuseTrigger(): void {
    const { order } = this;
    if (order?.act === undefined) return;
    // its answer was for an older revision, and can never arrive
    order.cancel?.();
    this.order = { id: order.id, until: order.until, outcome: 'releasing' };
  }

  /** By the election: the record shows a pause, or the replica closes, or the term is over. What was claimed is not run. */
  refuseClaims(): void {
    for (const { undo, settle } of this.#saves) {
      if (undo === undefined) continue;
      this.set(undo);
      settle(false);
    }
    this.#saves = this.#saves.filter(({ undo }) => undo === undefined);
  }

  /** By the election: a sync was answered. */
  confirmed(): void {
    for (const resolve of this.#doubts.splice(0)) resolve();
  }

  /** By the election: the term is over. */
  finish(how: TermEnd): void {
    if (this.#end !== undefined) return;
    this.refuseClaims();
    this.#end = { how, deadline: this.deadline };
    for (const { settle } of this.#saves.splice(0)) settle(false);
    this.confirmed();
    this.#ending.abort();
  }
}
