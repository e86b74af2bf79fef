import { type Clock, instant, type Instant } from '../base/time/clock.js';
import { type Order, type TermSight } from './decide.js';
import { isBefore, type Lease } from './lease.js';
import { type Holder, type JobRecord, type OwnFields, type SeenRecord } from './record.js';
import { type View } from './view.js';

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

/** What never changes in a term. */
export interface TermFacts {
  /** Name of the record. */
  readonly name: string;
  readonly holder: Holder;
  /** Larger than that of every earlier term of the job. */
  readonly fencingToken: number;
  readonly lease: Lease;
  readonly backlog: Backlog;
}

/** Its replica, as a term needs it. */
export interface TermReplica {
  readonly clock: Clock;
  readonly view: View;
  /** The deadline of a lease may be later than the main thread knows. */
  takeReports(): void;
  /** A sync leaves at once. */
  syncNow(): void;
}

/** Its election, as a term needs it. */
interface TermElection {
  /** The term has something to write. */
  touch(): void;
  /** What a run that outlived the term leaves. The next write of the record has it. */
  remember(fencingToken: number, fields: OwnFields): void;
}

/**
 * One uninterrupted leadership: a take that was applied. A run starts only while {@link isValid}, and {@link signal} aborts it. What the record
 * should say is set here, and the election writes it.
 */
export class Term implements TermSight {
  readonly startedAt: Instant;
  /** The leader's fields as the record should have them. */
  own: OwnFields;
  /** Counts the changes of `own`, up to the one that the record shows. */
  version = 0;
  /** Since when the record may lack something of `own`, by the monotonic clock. Infinity: it lacks nothing. */
  unsavedSince = Infinity;
  /** A command whose outcome is to be written. */
  order: Order | undefined;
  /** A command that was there when the term began, or that was carried out. */
  ignoredCommand: string | undefined;
  /** The incarnation in which its record was written last. */
  incarnation: string;
  /** In a new incarnation, until the record has been written again: the deadline from before, and the record as seen before. */
  reclaimBy: Instant | undefined;
  before: SeenRecord | undefined;
  readonly #ending = new AbortController();
  #end: { readonly how: TermEnd; readonly deadline: Instant } | undefined;
  #saves: { readonly version: number; readonly settle: (isSaved: boolean) => void; readonly undo?: OwnFields }[] = [];
  #doubts: (() => void)[] = [];

  constructor(
    private readonly facts: TermFacts,
    private readonly around: { readonly replica: TermReplica; readonly election: TermElection },
    { own, incarnation, ignoredCommand }: Pick<Term, 'own' | 'incarnation' | 'ignoredCommand'>,
  ) {
    this.startedAt = instant(around.replica.clock);
    this.own = own;
    this.incarnation = incarnation;
    this.ignoredCommand = ignoredCommand;
  }

  get name(): string {
    return this.facts.name;
  }

  get holder(): Holder {
    return this.facts.holder;
  }

  get fencingToken(): number {
    return this.facts.fencingToken;
  }

  get lease(): Lease {
    return this.facts.lease;
  }

  /** What earlier leaders have left. */
  get backlog(): Backlog {
    return this.facts.backlog;
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
    return this.#end?.deadline ?? this.reclaimBy ?? this.lease.deadline ?? this.startedAt;
  }

  /** Milliseconds until the deadline, by the monotonic clock. */
  get remainingMs(): number {
    return this.deadline.now - this.around.replica.clock.now();
  }

  /** The time of the store. */
  storeNow(): number {
    return this.around.replica.view.storeNow();
  }

  /** The same at most. Later leaders count the delay of an interval from the end of a run by this, so that it is never too short. */
  storeNowAtMost(): number {
    return this.around.replica.view.storeNowAtMost();
  }

  /** Whether a run may start now: the deadline has not passed on either clock. Called again before each run. If not, a sync leaves at once. */
  isValid(): boolean {
    const { replica } = this.around;
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

  /** Fields that the record gets within 10 s, in one request with those of all terms. After the end of the term the next write has them. */
  set(fields: OwnFields): void {
    this.own = { ...this.own, ...fields };
    this.version += 1;
    this.unsavedSince = Math.min(this.unsavedSince, this.around.replica.clock.now());
    if (this.#end !== undefined) this.around.election.remember(this.fencingToken, fields);
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
    const saved = new Promise<boolean>((resolve) => {
      this.#saves.push({ version: this.version, settle: resolve, ...(undo && { undo }) });
    });
    this.around.election.touch();
    return saved;
  }

  /** What it lacks is to be written now, not within 10 s. */
  get isUrgent(): boolean {
    return this.#saves.length > 0;
  }

  /** By the election: the record has the fields of this version, which were sent at `sentAt`. */
  shown(version: number, sentAt = this.unsavedSince): void {
    this.unsavedSince = version === this.version ? Infinity : sentAt;
    const saved = this.#saves.filter((save) => save.version <= version);
    if (saved.length === 0) return;
    this.#saves = this.#saves.filter((save) => save.version > version);
    for (const { settle } of saved) settle(true);
  }

  /** By the election: the record shows a pause, or the term is over. What was claimed is not run. */
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
    this.#end = { how, deadline: this.deadline };
    for (const { settle } of this.#saves.splice(0)) settle(false);
    this.confirmed();
    this.#ending.abort();
  }
}
