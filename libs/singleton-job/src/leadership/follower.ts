import { pauseLost, scheduleDiffers } from '../base/events/warnings.js';
import {
  type AcquireRequest,
  type Grant,
  type Holder,
  holderName,
  lockLifeMs,
  type Refusal,
  replicaOf,
  type SessionId,
  sessionOf,
} from '../store/lock-store.js';
import { shortPauseMs } from '../base/time/backoff.js';
import { instant, type Instant } from '../base/time/clock.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { onAbort } from '../base/time/on-abort.js';
import { KnownHolder } from './known-holder.js';
import { deadlineOf, isBefore, TTL_JITTER_MS } from './lease.js';
import { type LockNews, type LockWaiter } from './lock-messages.js';
import { NextRequest } from './next-request.js';
import { type Replica } from './replica.js';
import { type Session } from './session.js';
import { Term } from './term.js';
import { Watermarks } from './watermarks.js';

/** Why a queued request is cancelled: another replica was granted the lock. */
const TAKEN = 'taken';

/** How much longer the others wait when a leader releases its lock for one replica. */
const HEAD_START_MS = 250;

/** The options of an election. A `Job` has all of them. */
export interface ElectionOptions {
  readonly name: string;
  readonly lockExpiryMs: number;
  /** How long this replica waits after its start until it competes. */
  readonly initialDelayMs: number;
  /** Its description is stored beside the lock. A new leader compares it with that of the last leader. */
  readonly schedule: { readonly description: string };
}

/** The facts of an acquire request when it was last sent. It may be sent again on a new connection. */
interface SentRequest {
  readonly at: Instant;
  readonly session: Session;
  readonly holder: Holder;
  /** Whether a grant still proves that the lock is not lost. */
  readonly isUpToDate: () => boolean;
  /** No other replica can have led since the last term of this one. */
  readonly knowsAll: boolean;
  readonly endedSession: SessionId | undefined;
}

/** The follower's part of an election: waits until the lock may be free, and acquires it. */
export class Follower implements LockWaiter {
  readonly watermarks = new Watermarks();
  readonly #known: KnownHolder;
  readonly #next: NextRequest;
  /** The last term of this replica. Undefined once another replica is known to have led since. */
  #lastTerm: Term | undefined;
  /** The schedule of another leader that was last reported. */
  #otherSchedule: string | undefined;
  /** The term that its leader was last about to release for one replica. */
  #handOver: { readonly token: number; readonly isToUs: boolean } | undefined;
  /** The request that still waits in the queue of acquire requests. */
  #queued: AbortController | undefined;

  constructor(
    private readonly replica: Replica,
    private readonly options: ElectionOptions,
  ) {
    this.#known = new KnownHolder(replica.context.id, replica.list);
    this.#next = new NextRequest({
      replica,
      lockExpiryMs: options.lockExpiryMs,
      holder: this.#known,
      waitMs: (storeTime) => replica.restarts.waitMs(this.#toTake, storeTime),
    });
  }

  /** The other replica that holds the lock. Undefined: none is known, or what this replica knows is too old. */
  get otherHolder(): Holder | undefined {
    const isOutdated = this.replica.heartbeats.unansweredForMs > this.#longestExpiryMs;
    return isOutdated || this.#known.hasEnded ? undefined : this.#known.current;
  }

  /**
   * Whether it competes for a job that is not paused, and knows of no holder. False while it does not compete: during its initial delay,
   * while it is paused, after it stepped down, and while a run of a lost term has not ended.
   */
  get isLeaderless(): boolean {
    return this.#next.isWanted && this.otherHolder === undefined && this.watermarks.pausedAt === undefined;
  }

  /** Whether it would take the lock at once if `leader` released it, and the end of either session is noticed equally soon. */
  canSucceed(leader: string): boolean {
    const { otherHolder: holder } = this;
    if (!this.#next.isWanted || holder === undefined || replicaOf(holder) !== leader) return false;
    const isAlike = this.#known.lastExpiryMs === this.options.lockExpiryMs;
    return isAlike && this.replica.restarts.waitMs(this.#toTake) <= 0;
  }

  /** The leader is about to release the term of this token for one replica. */
  handedOver(token: number, isToUs: boolean): void {
    this.#handOver = { token, isToUs };
  }

  /** Acquires the lock as soon as that is allowed. Undefined when `stop` aborted before. */
  campaign(stop: AbortSignal): Promise<Term | undefined> {
    return this.#next.each(stop, () => this.#acquire(stop));
  }

  granted({ holder, token }: LockNews): void {
    if (!this.watermarks.grantedToOther(token)) return;
    this.#follow(holder);
    // a queued request would be refused
    this.#queued?.abort(TAKEN);
    this.#next.reset();
    this.#next.whileHeld();
    // the pause has ended, or the store has lost it: the answer shows which
    if (this.watermarks.pausedAt !== undefined) this.#next.soon();
  }

  released({ holder, token }: LockNews): void {
    if (!this.watermarks.released(token)) return;
    this.#known.released(holder);
    if (this.#handOver?.token !== token) this.#next.soon();
    else if (this.#handOver.isToUs) this.#next.in(0);
    else this.#next.soon(HEAD_START_MS);
  }

  /**
   * The job was paused on all replicas, or its pause has ended. It sends a request, and the answer shows which. False: this replica is no
   * follower at the moment, and sends none.
   */
  pauseChanged(): boolean {
    this.#next.soon();
    return this.#next.isWanted;
  }

  pausesChanged(): void {
    // the message that the pause of this job has ended may be lost; the answer that shows the pause may be under way
    if (this.watermarks.pausedAt !== undefined || this.#known.current === undefined) this.#next.soon();
  }

  sessionsChanged(): void {
    if (this.#known.hasEnded) this.#next.soon();
    // its list or its session is lost: the answer shows how long the lock lives
    else if (this.#known.current !== undefined && !this.#known.isListed) this.#next.within10s();
  }

  heartbeatAnswered(): void {
    if (this.#known.isForeign) this.#next.in(0);
    else this.#next.heartbeatAnswered();
  }

  onStoreRestart(): void {
    this.#next.checkRenewal();
    // the lock may be lost with the data
    this.#next.afterWait();
  }

  connected(): void {
    if (this.#known.isListed) this.#next.within10s();
    else this.#next.in(0);
  }

  subscriptionChanged(): void {
    this.#next.within10s();
  }

  /** Sends one acquire request until it is answered. Undefined: there is no term, and the time of the next request is set. */
  async #acquire(stop: AbortSignal): Promise<Term | undefined> {
    const session = await this.#usableSession(stop);
    if (session === undefined) return undefined;
    this.#next.reset();
    const { context } = this.replica;
    const { name, lockExpiryMs } = this.options;
    const attempt = new LinkedAbortController(stop, session.signal);
    this.#queued = attempt;
    const holder = this.replica.acquirer.nextHolder(session.id);
    const result = await this.replica.acquirer.acquireOnce<SentRequest>({
      name,
      holder,
      lifeMs: this.#lockLifeMs,
      signal: attempt.signal,
      prepare: () => {
        this.#queued = undefined;
        if (session.isValid()) return this.#request(session, holder);
        attempt.abort();
        return undefined;
      },
      isInTime: ({ at }) => !stop.aborted && session.isValid() && isBefore(context.clock, deadlineOf(at, lockExpiryMs)),
    });
    attempt.dispose();
    if (result.outcome === 'granted') return this.#open(result.grant, result.sent);
    if (result.outcome === 'refused') await this.#refused(result.refusal, stop);
    // remember only the token: a later grant that is used reports what earlier leaders left
    if (result.outcome === 'too-late') this.watermarks.grantedToOther(result.grant.token);
    // a grant to another replica that cancelled the request has already set the time of the next one
    if (result.outcome !== 'refused' && attempt.signal.reason !== TAKEN) this.#next.in(0);
    return undefined;
  }

  /** The session for the acquire request. Resolves when the store has confirmed it and it is valid by both clocks. */
  async #usableSession(stop: AbortSignal): Promise<Session | undefined> {
    const { sessions, heartbeats } = this.replica;
    while (!stop.aborted) {
      const session = sessions.of(this.options.lockExpiryMs);
      if (session.isValid()) return session;
      await heartbeats.untilAnswered(stop);
    }
    return undefined;
  }

  #request(session: Session, holder: Holder): { readonly request: AcquireRequest; readonly sent: SentRequest } {
    const { context, restarts } = this.replica;
    const endedSession = this.#known.hasEnded ? this.#known.session : undefined;
    const request: AcquireRequest = {
      name: this.options.name,
      holder,
      lifeMs: this.#lockLifeMs,
      seenToken: this.watermarks.token,
      endedSession,
      stateLifeMs: undefined,
      ...restarts.reliance(this.#toTake),
    };
    const [at, isUpToDate, knowsAll] = [instant(context.clock), restarts.observe(), restarts.knowsAll(this.#toTake)];
    return { request, sent: { at, session, holder, isUpToDate, knowsAll, endedSession } };
  }

  #open(grant: Grant, { at, session, holder, isUpToDate, knowsAll, endedSession }: SentRequest): Term {
    const { restarts } = this.replica;
    const { name, schedule } = this.options;
    // the first sending of a repeated request may have been granted: then only the request says whose session had ended
    const previous = grant.previousHolder === holder ? endedSession : sessionOfPrevious(grant);
    const takeover = this.#known.takenBy(holder, grant, endedSession);
    const endOfLease = this.#known.endOfLease(previous, grant.storeTime);
    const backlog = {
      grantedAt: grant.storeTime,
      ...this.watermarks.grantedToUs(grant, schedule.description, knowsAll),
      claimsLostBefore: knowsAll ? 0 : restarts.claimsLostBefore,
      leaseEndedAt: endOfLease?.at,
      crashedReplica: endOfLease?.crashedReplica,
    };
    const { watermarks } = this;
    const facts = { name, holder, session, grant, sent: at, isUpToDate, watermarks, backlog, takeover };
    const term = new Term(this.replica, { ...facts, schedule: schedule.description });
    this.#lastTerm = term;
    onAbort(term.signal, () => {
      if (term.end === 'expired') this.#known.expired(holder);
      if (term.end === 'preempted') this.#lost(session, term.otherHolder);
    });
    return term;
  }

  /** The store ended a term of this replica. */
  #lost(session: Session, holder: Holder | undefined): void {
    if (holder === undefined || sessionOf(holder) === session.id) return;
    this.#next.checkRenewal();
    this.#follow(holder);
  }

  async #refused(refusal: Refusal, stop: AbortSignal): Promise<void> {
    const { reason, holder, storeTime } = refusal;
    const { watermarks } = this;
    const { notify, client } = this.replica.context;
    const { name } = this.options;
    const lostBefore = watermarks.lostPausedAt;
    watermarks.refused(refusal);
    const { lostPausedAt } = watermarks;
    if (lostPausedAt !== undefined && lostPausedAt !== lostBefore)
      notify('warning', pauseLost(name, lostPausedAt, client.store.name));
    if (holder === undefined) this.#known.free();
    else this.#follow(holder);
    if (holder !== undefined) this.#compareSchedule(refusal.schedule, holder);
    switch (reason) {
      case 'held':
        this.#next.whileHeld(refusal.ttlMs);
        return;
      case 'paused':
        this.#next.asSafetyNet();
        return;
      case 'too-early':
        this.#next.afterWait(storeTime);
        return;
      case 'outdated':
        await this.#outdated(stop);
    }
  }

  /** Two versions of the application, or two applications with one `projectName`, disagree. */
  #compareSchedule(theirs: string | undefined, holder: Holder): void {
    const { name, schedule } = this.options;
    if (theirs === undefined || theirs === schedule.description || theirs === this.#otherSchedule) return;
    this.#otherSchedule = theirs;
    this.replica.context.notify('warning', scheduleDiffers(name, schedule.description, theirs, holderName(holder)));
  }

  /** The request relied on old facts, so a heartbeat comes first. */
  async #outdated(stop: AbortSignal): Promise<void> {
    const { context, heartbeats, restarts } = this.replica;
    const isAnswered = await heartbeats.refresh(stop);
    if (restarts.waitMs(this.#toTake) > 0) this.#next.afterWait();
    else this.#next.in(isAnswered ? context.random() * TTL_JITTER_MS : shortPauseMs(context.random));
  }

  #follow(holder: Holder): void {
    if (this.#known.follow(holder)) this.#lastTerm = undefined;
  }

  get #lockLifeMs(): number {
    return lockLifeMs(this.options.lockExpiryMs);
  }

  /** The `lockExpiry` of the job, or of the last known holder if that is longer. */
  get #longestExpiryMs(): number {
    return Math.max(this.options.lockExpiryMs, this.#known.lastExpiryMs);
  }

  get #toTake() {
    return { watermarks: this.watermarks, longestExpiryMs: this.#longestExpiryMs, lastTerm: this.#lastTerm };
  }
}

/** The session of the leader that had the lock until its session ended. Undefined: the lock was free. */
function sessionOfPrevious({ previousHolder }: Grant): SessionId | undefined {
  return previousHolder === undefined ? undefined : sessionOf(previousHolder);
}
