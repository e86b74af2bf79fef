import { type Reason } from '../base/events/events.js';
import { leaseOf } from '../store/lease-id.js';
import { type Candidate } from './candidate.js';
import { type LeadershipContext } from './context.js';
import * as decide from './decide.js';
import { ElectionEvents } from './election-events.js';
import { type Lease } from './lease.js';
import { type EditLimits, type RecordEdit, RecordEdits } from './record-edits.js';
import { RecordView } from './record-view.js';
import { type JobRecord, jobOf, NONE, type ObservedRecord, type Pause, PAUSE_OF_ALL, type Reply } from './record.js';
import { Term, type TermEnd } from './term.js';
import { type Outbox, type RecordChange, type WriteAnswer, Writer } from './writes.js';

/** A replica does not compete for so long after it stepped down, so that others take the job. */
export const STAND_BACK_MS = 2_000;
/** A term that is released ends after that, if the store does not show its record: its release is unconfirmed. */
const UNCONFIRMED_MS = 2_000;

/** The table of a replica, as its elections see it. */
export interface ElectionTable {
  readonly isClosing: boolean;
  /** That of the record that pauses all jobs. */
  readonly pauseOfAll: Election;
  /** The election is to be reconciled, now or at its time. */
  enqueue(election: Election): void;
  /** How long to wait before a take of a job. */
  takeDelayMs(): number;
}

/**
 * What this replica knows about one record, and whether it wants to hold it. It follows, leads and releases by
 * reconciling: {@link reconcile} decides from what was seen and the time alone, however that was learned.
 */
export class Election {
  readonly name: string;
  /** Whether this replica competes for the record. */
  isWanted = false;
  /** What this replica has seen of the record. */
  readonly observed: RecordView;
  /** The term of this replica, from the applied take until its end. Undefined: this replica does not lead. */
  term: Term | undefined;
  /** When it is reconciled without news, by the monotonic clock. -Infinity: with the next pass. Infinity: never. */
  reconcileAt = -Infinity;
  /** The write of the record that is under way, and when the next one may leave. */
  readonly writer = new Writer();
  /** What callers of this process want to write into the record. */
  readonly #edits: RecordEdits;
  #events: ElectionEvents;
  /**
   * When this replica takes the record, by the monotonic clock. It is drawn once when the record is found free. So more
   * passes do not postpone the take. Undefined: the record is not free, or this replica does not compete.
   */
  #takeAt: number | undefined;
  /** After a step-down this replica does not compete before that, by the monotonic clock. */
  #standBackEndsAt = -Infinity;
  /** The last term that ended by a release, until the release has been reported. */
  #releasedTerm: Term | undefined;
  /** The callers of {@link withdraw} that wait. They resolve when the election is idle. */
  #idle: (() => void)[] | undefined;
  /** A pass has thrown since the last term began. The error is reported once, not at each pass. */
  #hasFailed = false;

  constructor(
    /** The job or the lock that this replica competes for. */
    public candidate: Candidate,
    private readonly context: LeadershipContext,
    private readonly table: ElectionTable,
    private readonly outbox: Outbox,
  ) {
    this.name = candidate.name;
    this.observed = new RecordView(context);
    this.#edits = new RecordEdits(context);
    this.#events = new ElectionEvents(candidate, context);
  }

  // ---- What others do with it

  /** A later candidate of the same name takes the place of the one before. Edits and late writes of that go on. */
  replaceCandidate(candidate: Candidate): void {
    this.candidate = candidate;
    this.#events = new ElectionEvents(candidate, this.context);
  }

  /** Competes from now on, or no more: a term that it has goes on. */
  compete(isWanted = true): void {
    this.isWanted = isWanted;
    this.enqueue();
  }

  /**
   * Releases the term, if there is one, and competes no more. Resolves when nothing runs and the record is released.
   */
  withdraw(reason: Reason<'leadershipReleased'>): Promise<void> {
    this.isWanted = false;
    this.#release(reason);
    const isDone = new Promise<void>((resolve) => (this.#idle ??= []).push(resolve));
    this.enqueue();
    return isDone;
  }

  /** Releases the term, and does not compete for a while after that. */
  stepDown(reason: Reason<'leadershipReleased'>, standBackMs = STAND_BACK_MS): void {
    this.#release(reason, standBackMs);
    this.enqueue();
  }

  /** Resolves to whether the record has shown it in time, within 2 s by default. */
  edit(edit: RecordEdit, limits?: EditLimits): Promise<boolean> {
    const isDone = this.#edits.add(edit, this.refresh(), limits);
    this.enqueue();
    return isDone.finally(this.enqueue.bind(this));
  }

  /** It is reconciled now, or at a time by the monotonic clock. */
  enqueue(at = -Infinity): void {
    this.reconcileAt = Math.min(this.reconcileAt, at);
    this.table.enqueue(this);
  }

  /** It is reconciled with the next pass. */
  markDue(): void {
    this.reconcileAt = -Infinity;
  }

  /**
   * Reads the record, unless the answer to a write comes. Returns the sequence of now: what was seen with a later one
   * is fresh.
   */
  refresh(): number {
    const { heartbeat } = this.context;
    if (!this.writer.isOpen) heartbeat.requestRead(this.name);
    return heartbeat.nextSequence();
  }

  /** A leader and a caller that waits reconcile at once, the others not all at once. */
  get isInHurry(): boolean {
    return this.term !== undefined || this.#edits.areOpen || (!this.candidate.isBalanced && this.isWanted);
  }

  /** The replica that leads, as far as this one knows: itself until it has released its term. */
  get leader(): string | undefined {
    return this.term === undefined ? this.observed.leader : this.context.id;
  }

  /** The pause that counts, as this replica knows: that of all jobs, or the own one. Undefined: it is not paused. */
  get pause(): Pause | undefined {
    return this.#pauseOfAll?.pause ?? this.ownPause;
  }

  /** The pause in this record. */
  get ownPause(): Pause | undefined {
    return this.observed.pause;
  }

  /** Undefined: it is not a job. */
  get #pauseOfAll(): Election | undefined {
    return jobOf(this.name) === undefined ? undefined : this.table.pauseOfAll;
  }

  /** The record was seen as it is, and can be read. */
  get isKnown(): boolean {
    return this.observed.fresh !== undefined && this.observed.fresh.isUnreadable !== true;
  }

  /** The term in which runs may start. Undefined: this replica does not lead, or is releasing its term. */
  get activeTerm(): Term | undefined {
    return this.term?.release === undefined ? this.term : undefined;
  }

  /** This replica competes now, and knows of no living leader. */
  get isLeaderless(): boolean {
    const isCompeting = this.isWanted && !this.table.isClosing && this.candidate.isIdle;
    if (!isCompeting || this.context.clock.now() < this.#standBackEndsAt) return false;
    return this.pause === undefined && this.leader === undefined;
  }

  /** Nothing of it runs or is written, and it leaves no orphan as far as it has seen. */
  get isIdle(): boolean {
    if (this.term !== undefined || this.writer.isOpen || !this.candidate.isIdle) return false;
    return this.observed.fresh === undefined || this.observed.ownership !== 'orphan';
  }

  /** Whether it may be forgotten. After a write it must have read the record, which may be an orphan. */
  get isOver(): boolean {
    if (this.isWanted || this.#edits.areOpen || this.writer.hasUnconfirmedWrite || !this.isIdle) return false;
    return this.isKnown || this.writer.sentAt === -Infinity;
  }

  // ---- What was seen

  /** The answer to a sync that left at `sequence`. */
  observe(record: ObservedRecord, sequence: number): void {
    const { heartbeat, storeView } = this.context;
    // it left before the last write was answered, so it says nothing about the record
    if (sequence < this.observed.sequence) {
      heartbeat.requestRead(this.name);
      return;
    }
    this.writer.observe(record.revision, storeView.storeTime);
    this.#observe(record, sequence);
    this.#events.observed(record, this.term !== undefined);
    this.enqueue();
  }

  #observe(record: ObservedRecord, sequence: number): void {
    this.observed.observe(record, sequence);
    if (record.value?.holder !== this.#releasedTerm?.holder) this.#reportReleased(true);
  }

  /** Another incarnation: nothing that was seen counts. */
  incarnationChanged(): void {
    this.observed.incarnationChanged();
    this.writer.incarnationChanged();
    this.term?.incarnationChanged(this.observed.last);
    this.enqueue();
  }

  /** The lease of its term is over, or the term was not reclaimed by its deadline. */
  expire(): void {
    const { term } = this;
    const { clock, leases } = this.context;
    if (term === undefined) return;
    const isLate = term.reclaim !== undefined && clock.now() >= term.reclaim.by.now;
    if (isLate || leases.get(term.lease.ttlMs) !== term.lease) this.#end('expired');
  }

  /** The process ends: what is not released now ends with its lease, also under a run that outlives the connections. */
  closeNow(): void {
    this.#release('shutdown');
    this.#end('released');
    this.#reportReleased(false);
    this.#edits.cancelAll();
    for (const settle of this.#idle?.splice(0) ?? NONE) settle();
  }

  // ---- Reconciling

  /** Decides from what was seen. Called when something has changed, and at {@link reconcileAt}. */
  reconcile(): void {
    this.reconcileAt = Infinity;
    const { clock, storeView } = this.context;
    const { until } = this.pause ?? {};
    if (until !== undefined) this.#reachedOrWait(clock.now() + until - storeView.storeNow());
    try {
      this.#reconcile();
      this.candidate.reconciled?.();
      if (this.isWanted) this.#report();
    } catch (error) {
      this.#fail(error);
    }
    // what an unknown write may have left is released later, or ends with its lease
    if (!this.isWanted && this.isIdle) for (const settle of this.#idle?.splice(0) ?? NONE) settle();
  }

  #report(): void {
    const [{ last }, all] = [this.observed, this.#pauseOfAll];
    this.#events.status(last, this.term !== undefined, this.leader);
    this.#events.pause('job', last, this.ownPause);
    if (all !== undefined) this.#events.pause('all', all.observed.last, all.pause);
  }

  /** An error of the library stops no other election, and this one tries again when it has seen the record again. */
  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#events.failed(error);
    this.stepDown('runner-failed');
  }

  #reconcile(): void {
    const { context, observed, term } = this;
    const { fresh } = observed;
    if (this.writer.isOpen || context.storeView.isEmpty) return;
    if (fresh === undefined) {
      context.heartbeat.requestRead(this.name);
      this.#endWithoutStore(term);
      return;
    }
    // before anything else is written: no reclaim and no edit of a caller here may hide the reply
    if (term !== undefined) this.candidate.replies?.observe(fresh.value ?? {});
    // nothing may delay the end of a term
    if (term !== undefined && !this.#keepOrEnd(term, fresh)) return;
    if (this.#edits.areOpen && this.#reconcileEdits(fresh)) return;
    if (term !== undefined) this.#serve(term, fresh);
    else this.#follow(fresh);
  }

  /** Whether an edit of a caller is being written. */
  #reconcileEdits(record: ObservedRecord): boolean {
    const change = this.#edits.reconcile(record, this.observed.sequence, this.#canWriteOrWait());
    if (change !== undefined) this.#write(change);
    // it reconciles again also without a hint
    else if (this.#edits.areOpen) this.context.heartbeat.requestRead(this.name, this.#edits.readAt);
    return change !== undefined;
  }

  /** Has the time come? If not, it reconciles then. */
  #reachedOrWait(at: number): boolean {
    if (this.context.clock.now() >= at) return true;
    this.reconcileAt = Math.min(this.reconcileAt, at);
    return false;
  }

  // ---- Following

  #follow(record: ObservedRecord): void {
    const { candidate } = this;
    const { clock, heartbeat, leases } = this.context;
    const { ownership } = this.observed;
    if (!this.#wants(record)) {
      this.#takeAt = undefined;
      // it would come back with an earlier clock, and no take of a job writes this record
      if (this.name === PAUSE_OF_ALL && this.observed.hasEndedPause && this.#canWriteOrWait())
        this.#write({ value: { ...record.value, pause: undefined } });
      const mustRelease = ownership === 'orphan' && candidate.isIdle;
      // in data of before that came back it hides a later leader, who writes the record again
      if (mustRelease && this.#reachedOrWait(this.observed.graceEndsAt(candidate.ttlMs)) && this.#canWriteOrWait())
        this.#writeRelease(record.value ?? {});
      return;
    }
    const lease = leases.of(candidate.ttlMs);
    if (!lease.isValid(clock)) {
      // reconciles again when a sync has confirmed it
      heartbeat.requestRead(this.name);
      return;
    }
    if (ownership === 'held') {
      this.#watch(record);
      return;
    }
    if (!this.#reachedOrWait(this.observed.graceEndsAt(candidate.ttlMs))) return;
    this.#takeAt ??= clock.now() + this.#takeDelayMs(record.value);
    if (this.#reachedOrWait(this.#takeAt) && this.#canWriteOrWait()) this.#tryToTake(record, lease);
  }

  #takeDelayMs(value: JobRecord = {}): number {
    const { id, storeView } = this.context;
    const to = decide.handedTo(value, storeView.storeNow());
    if (!this.candidate.isBalanced || to === id) return 0;
    return this.table.takeDelayMs() + (to === undefined ? 0 : decide.HANDOVER_WINDOW_MS);
  }

  #wants({ isUnreadable }: ObservedRecord): boolean {
    if (!this.isWanted || this.table.isClosing || isUnreadable || this.pause !== undefined) return false;
    const all = this.#pauseOfAll;
    // one that has ended here may have been extended meanwhile: it is written away first
    if (all !== undefined && (!all.isKnown || all.observed.hasEndedPause)) return false;
    return this.candidate.isIdle && this.#reachedOrWait(this.#standBackEndsAt);
  }

  /** Another replica holds it: reconciles when its lease ends, unless it was renewed by then. */
  #watch({ value }: ObservedRecord): void {
    const { heartbeat, storeView } = this.context;
    this.#takeAt = undefined;
    if (value?.holder === undefined) return;
    const lease = leaseOf(value.holder);
    // one that is over, but is still there, cannot be removed now: its row is locked
    const waitMs = storeView.leases.get(lease) === 0 ? heartbeat.intervalMs / 4 : 0;
    if (!this.#reachedOrWait(storeView.endsAt(lease) + waitMs)) return;
    heartbeat.requestRead(this.name, this.isInHurry ? -Infinity : heartbeat.jitteredAt);
  }

  #tryToTake(record: ObservedRecord, lease: Lease): void {
    this.#takeAt = undefined;
    const { name, candidate, context, observed } = this;
    const holder = context.leases.nextHolder(lease);
    const fencingToken = observed.nextFencingToken();
    const predecessor = observed.predecessor();
    const fields = candidate.inherit?.(predecessor) ?? {};
    const parts = { name, holder, fencingToken, predecessor, fields, lease };
    const term = new Term(parts, context, this);
    const incarnation = context.storeView.incarnation.id;
    const settled = ({ revision }: WriteAnswer): void => {
      if (revision !== undefined) this.#begin(term);
    };
    // an interrupted run gets its end when it has been reported: the answer to this may be lost
    const { run = fields.run } = record.value ?? {};
    const kept = { ...record.value, pause: undefined, commandedIn: undefined };
    this.#write({ value: { ...kept, ...fields, run, holder, fencingToken, incarnation }, settled });
  }

  /** The take was applied. What does not begin now is an orphan. */
  #begin(term: Term): void {
    const { clock, leases } = this.context;
    const isInUse = leases.get(term.lease.ttlMs) === term.lease;
    if (!isInUse || !term.lease.isValid(clock) || !this.isWanted || this.table.isClosing) return;
    this.term = term;
    term.begin();
    this.#hasFailed = false;
    const { reason: because, leader: after } = term.predecessor;
    const gained = { because, ...(after !== undefined && { after }) };
    this.#events.ofTerm('leadershipGained', term.fencingToken, gained);
    this.candidate.lead(term);
  }

  // ---- Leading

  /**
   * Whether the record names the term. If not, the term is over, or the record is written again in a new incarnation.
   */
  #keepOrEnd(term: Term, record: ObservedRecord): boolean {
    const step = decide.termStep(term, record, this.context.storeView);
    if (step === 'serve') term.reclaimed();
    else if (step === 'reclaim') this.#save(term, record);
    else this.#end('preempted');
    return step === 'serve';
  }

  #serve(term: Term, record: ObservedRecord): void {
    const { candidate } = this;
    const { isClosing } = this.table;
    const { value = {} } = record;
    if (this.#reachedOrWait(term.saveAt)) term.onRecord(value);
    const { pause } = this;
    if (pause !== undefined || isClosing) {
      term.refuseClaims();
      this.#release(pause === undefined ? 'shutdown' : 'paused');
    }
    const reply = candidate.reply?.(value.command, term);
    if (term.release !== undefined && candidate.isIdle) {
      this.#end('released');
      this.#writeRelease(decide.recordOfTerm(record, term, reply, this.context.storeView.incarnation.id));
      return;
    }
    const keepAt = this.writer.sentAt + (candidate.forgetAfterMs ?? Infinity) / 3;
    if (this.#reachedOrWait(Math.min(term.saveAt, keepAt)) || reply !== undefined) this.#save(term, record, reply);
  }

  /** `reply`: to a command, which is written too. */
  #save(term: Term, record: ObservedRecord, reply?: Reply): void {
    if (!this.#canWriteOrWait()) return;
    term.markSent();
    const value = decide.recordOfTerm(record, term, reply, this.context.storeView.incarnation.id);
    // after its `until` the caller of a command waits no more
    this.#write({ value, until: reply?.until, isPublished: reply !== undefined });
  }

  #end(how: TermEnd): void {
    const { term } = this;
    if (term === undefined) return;
    this.term = undefined;
    this.observed.termEnded(term);
    term.finish(how);
    if (how === 'released') {
      this.#releasedTerm = term;
      this.#standBackEndsAt = this.context.clock.now() + (term.release?.standBackMs ?? 0);
    } else this.#events.ofTerm('leadershipLost', term.fencingToken, { reason: how });
    this.enqueue();
  }

  // ---- Releasing

  #release(reason: Reason<'leadershipReleased'>, standBackMs = 0): void {
    if (this.term === undefined || this.term.release !== undefined) return;
    this.term.beginRelease(reason, standBackMs);
    this.candidate.drain?.(reason);
  }

  /**
   * The store does not answer: what is claimed is not run, and the term ends. Its record is an orphan then, which is
   * released when it is seen.
   */
  #endWithoutStore(term: Term | undefined): void {
    if (term?.release === undefined) return;
    if (!this.#reachedOrWait(Math.max(term.release.at, this.writer.sentAt) + UNCONFIRMED_MS)) return;
    term.refuseClaims();
    if (this.candidate.isIdle) this.#end('released');
  }

  /** Writes the record without the holder, with what the term leaves. */
  #writeRelease(value: JobRecord): void {
    const { observed, context } = this;
    const fields = observed.leftBehind(value);
    this.#write({ value: decide.recordWithoutHolder(value, fields, context.storeView.incarnation.id) });
  }

  #reportReleased(confirmed: boolean): void {
    const term = this.#releasedTerm;
    this.#releasedTerm = undefined;
    if (term?.release === undefined) return;
    const { reason } = term.release;
    const released = { reason, confirmed, runInFlight: !this.candidate.isIdle };
    this.#events.ofTerm('leadershipReleased', term.fencingToken, released);
  }

  // ---- Writing

  #canWriteOrWait(): boolean {
    return this.#reachedOrWait(this.writer.nextAt);
  }

  #write(change: RecordChange): void {
    const { candidate, context, name, observed } = this;
    const { ttlMs, forgetAfterMs } = candidate;
    const { value, until = context.storeView.storeTime + ttlMs, isPublished = true } = change;
    const forget = forgetAfterMs !== undefined && { forgetAfterMs };
    const write = { name, ifRevision: observed.last.revision, value: JSON.stringify(value), ...forget };
    const answered = (answer: WriteAnswer): void => {
      this.writer.answered(answer, write.ifRevision, until);
      try {
        if (answer.revision === undefined) observed.invalidate(answer.sequence);
        else this.#observe({ revision: answer.revision, value }, answer.sequence);
        change.settled?.(answer);
      } catch (error) {
        this.#fail(error);
      }
      this.enqueue();
    };
    this.writer.begin(context.clock.now());
    this.outbox.add({ write, until, isPublished, answered });
  }
}
