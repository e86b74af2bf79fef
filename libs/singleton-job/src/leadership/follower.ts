import {
  type AcquireRequest,
  type AcquireResult,
  type Grant,
  type Holder,
  lockExpiryOf,
  lockLifeMs,
  type Refusal,
  replicaOf,
  type SessionId,
  sessionOf,
} from '../store/index.js';
import { instant, type Instant, shortPauseMs, Sleeper } from '../time/index.js';
import { LastLeader } from './last-leader.js';
import { AFTER_TTL_MS, afterTtlMs, deadlineOf, isBefore, safetyMarginMs, TTL_JITTER_MS } from './lease.js';
import { type LockNews, type Replica, type Waiter } from './replica.js';
import { safetyNetMs } from './safety-net.js';
import { type Session } from './session.js';
import { RENEWAL_INTERVAL_MS, Term } from './term.js';
import { Watermarks } from './watermarks.js';

/** The options of an election. A `JobDefinition` has all of them. */
export interface ElectionOptions {
  readonly name: string;
  readonly lockExpiryMs: number;
  /** How long this replica waits after its start until it competes. */
  readonly initialDelayMs: number;
  /** Its description is stored beside the lock. A new leader compares it with that of the last leader. */
  readonly schedule: { readonly description: string };
}

/** The longest wait of a follower per other living replica before it sends an acquire request, so that not all send at once. */
const SPREAD_MS = 5;
/** Extra wait for each other replica, for a replica that leads more jobs than its share. */
const ABOVE_SHARE_MS = 1.5;
/** The load of a replica counts up to this: a multiple of its fair share. */
const MOST_LOAD = 2;
/** After a reconnect a follower whose leader is known to be alive sends a request within this time. */
const REQUEST_WITHIN_MS = 10_000;
/** A lock that was not renewed for so long is not renewed by its holder. */
const RENEWAL_CHECK_MS = 1.5 * RENEWAL_INTERVAL_MS;

/** The facts of an acquire request when it was last sent. It may be sent again on a new connection. */
interface SentRequest {
  readonly at: Instant;
  readonly session: Session;
  readonly holder: Holder;
  readonly leaseEpoch: number;
  readonly isExempt: boolean;
  readonly endedSession: string | undefined;
}

/** The follower's part of an election: waits until the lock may be free, and acquires it. */
export class Follower implements Waiter {
  readonly known = new Watermarks();
  /** Sleeps until the next request. Undefined: this replica does not compete at the moment. */
  #sleeper: Sleeper | undefined;
  /** The holder of the lock as this replica knows it. Undefined: the lock is free, or the holder is not known. */
  #holder: Holder | undefined;
  /** The last known holder, for the wait after a break. */
  #lastHolder: Holder | undefined;
  readonly #lastLeader = new LastLeader();
  /** The last term of this replica. While its deadline has not passed, no other replica can have led. */
  #lastTerm: Term | undefined;
  /** Cancels a request that still waits in the queue of acquire requests. */
  #cancelQueued: (() => void) | undefined;
  /** The store may have restored the lock of a replica that does not renew it. A request at this time shows whether it does. */
  #renewalCheckAtMs = -Infinity;
  /** The session of the holder was not listed, so the next request is due at the end of the lock's life. */
  #waitsForTtl = false;

  constructor(
    private readonly replica: Replica,
    private readonly options: ElectionOptions,
  ) {}

  /** The other replica that holds the lock. Undefined: none is known, or what this replica knows is too old. */
  get rival(): Holder | undefined {
    const isOutdated = this.replica.sessions.unansweredForMs > this.#longestExpiryMs;
    return isOutdated || this.#holderHasEnded() ? undefined : this.#holder;
  }

  /** Whether it competes for a job that is not paused, and knows of no holder. */
  get isLeaderless(): boolean {
    return this.#sleeper !== undefined && this.rival === undefined && this.known.pausedAt === undefined;
  }

  /** Acquires the lock as soon as that is allowed. Undefined when `stop` aborted before. */
  async campaign(stop: AbortSignal): Promise<Term | undefined> {
    const sleeper = new Sleeper(this.replica.clock, stop);
    this.#sleeper = sleeper;
    sleeper.wakeIn(0);
    try {
      while (!stop.aborted) {
        await sleeper.untilDue();
        const term = await this.#acquire(stop);
        if (term !== undefined) return term;
      }
      return undefined;
    } finally {
      sleeper.reset();
      this.#sleeper = undefined;
    }
  }

  granted({ holder, token }: LockNews): void {
    if (!this.known.grantedToOther(token)) return;
    this.#follow(holder);
    // a queued request would be refused
    this.#cancelQueued?.();
    this.#sleeper?.reset();
    this.#waitForHolder();
  }

  released({ holder, token }: LockNews): void {
    if (!this.known.released(token)) return;
    this.#lastLeader.released(holder);
    if (this.#holder === holder) this.#holder = undefined;
    this.#requestIn(this.#spreadMs());
  }

  /** The job was paused, or its pause has ended. False: it sends no request now. */
  pauseChanged(): boolean {
    this.#requestIn(this.#spreadMs());
    return this.#sleeper !== undefined;
  }

  pausesChanged(): void {
    // the message that the pause of this job has ended may be lost
    if (this.known.pausedAt !== undefined) this.#requestIn(this.#spreadMs());
  }

  sessionsChanged(): void {
    if (this.#holderHasEnded()) {
      this.#requestIn(this.#spreadMs());
      return;
    }
    const mustWaitForTtl = this.#holder !== undefined && !this.#holderIsListed();
    if (this.#holder !== undefined && this.#waitsForTtl !== mustWaitForTtl) this.#waitForHolder();
  }

  heartbeatAnswered(): void {
    // SingletonJob for .NET sends no messages and has no session
    if (this.#holder !== undefined && replicaOf(this.#holder) === undefined) this.#requestIn(0);
  }

  breakNoticed(): void {
    this.#renewalCheckAtMs = this.replica.clock.now() + RENEWAL_CHECK_MS;
    // the lock may be lost with the data
    this.#requestAfterWait();
  }

  connected(): void {
    this.#requestIn(this.#holderIsListed() ? this.replica.random() * REQUEST_WITHIN_MS : 0);
  }

  subscriptionChanged(): void {
    this.#requestIn(this.replica.random() * REQUEST_WITHIN_MS);
  }

  lost(term: Term, holder: Holder | undefined): void {
    if (holder === undefined || sessionOf(holder) === term.facts.session?.id) return;
    this.#renewalCheckAtMs = this.replica.clock.now() + RENEWAL_CHECK_MS;
    this.#follow(holder);
  }

  /** Sends one acquire request until it is answered. Undefined: there is no term, and the time of the next request is set. */
  async #acquire(stop: AbortSignal): Promise<Term | undefined> {
    const session = await this.#usableSession(stop);
    if (session === undefined) return undefined;
    this.#sleeper?.reset();
    const { replica } = this;
    const { name, lockExpiryMs } = this.options;
    const quitting = new AbortController();
    const quit = (): void => {
      quitting.abort();
    };
    stop.addEventListener('abort', quit);
    session.signal.addEventListener('abort', quit);
    const holder = replica.nextHolder(session);
    const sent: { last: SentRequest | undefined } = { last: undefined };
    const queued = { isCancelled: false };
    this.#cancelQueued = () => {
      queued.isCancelled = true;
      quit();
    };
    const send = (): Promise<AcquireResult | undefined> =>
      replica.acquires.run((): Promise<AcquireResult | undefined> => {
        this.#cancelQueued = undefined;
        // checked each time it is sent, also on a new connection
        if (!session.isTrusted()) {
          quit();
          return Promise.resolve(undefined);
        }
        const { request, ...facts } = this.#request(session, holder);
        sent.last = facts;
        return replica.client.store.acquire(request);
      }, quitting.signal);
    const result = await replica.client.untilAnswered({ name, kind: 'acquire', signal: quitting.signal, send });
    stop.removeEventListener('abort', quit);
    session.signal.removeEventListener('abort', quit);
    if (result !== undefined) this.known.serverId = result.serverId;

    if (result?.granted === true && sent.last !== undefined) {
      const isInTime = session.isTrusted() && isBefore(replica.clock, deadlineOf(sent.last.at, lockExpiryMs));
      if (isInTime && !stop.aborted) return this.#open(result, sent.last);
      // remember only the token: a later grant that is used reports what earlier leaders left
      this.known.grantedToOther(result.token);
    }
    if (sent.last !== undefined && result?.granted !== false) {
      // granted too late, or without an answer: then it may have been granted all the same
      const token = result?.token ?? 0;
      replica.releaseInBackground({ name, holder, token, update: {} }, lockLifeMs(lockExpiryMs));
    }
    if (result?.granted === false) await this.#refused(result, stop);
    // a grant to another replica that cancelled the request has already set the time of the next one
    else if (!queued.isCancelled) this.#requestIn(0);
    return undefined;
  }

  /** The session for the acquire request. Resolves when the store has confirmed it and both clocks trust it. */
  async #usableSession(stop: AbortSignal): Promise<Session | undefined> {
    const { sessions } = this.replica;
    while (!stop.aborted) {
      const session = sessions.of(this.options.lockExpiryMs);
      if (session.isTrusted()) return session;
      await sessions.nextAnswer(stop);
    }
    return undefined;
  }

  #request(session: Session, holder: Holder): SentRequest & { readonly request: AcquireRequest } {
    const { clock, sessions } = this.replica;
    const { name, lockExpiryMs } = this.options;
    const at = instant(clock);
    const isExempt = this.#mayLeadAgainAtOnce();
    const endedSession = this.#holderHasEnded() ? this.#holderSession : undefined;
    const request: AcquireRequest = {
      name,
      holder,
      lifeMs: lockLifeMs(lockExpiryMs),
      seenToken: this.known.token,
      endedSession,
      heartbeat: sessions.server,
      knownServerId: this.known.serverId,
      knownStateCreatedAt: this.known.stateCreatedAt,
      notBefore: isExempt ? 0 : this.#notBefore(),
      isFirstStart: this.known.isNew && !sessions.hasNoticedBreak,
      stateLifeMs: undefined,
    };
    return { request, at, session, holder, leaseEpoch: sessions.leaseEpoch, isExempt, endedSession };
  }

  #open(grant: Grant, { at, session, holder, leaseEpoch, isExempt, endedSession }: SentRequest): Term {
    const { sessions } = this.replica;
    const { name, lockExpiryMs } = this.options;
    const schedule = this.options.schedule.description;
    this.#holder = undefined;
    // its own term proves that no older lease exists
    this.#lastHolder = holder;
    const takeover = this.#lastLeader.takeover(grant, endedSession !== undefined);
    this.#lastLeader.acquired(holder);
    const backlog = {
      ...this.known.grantedToUs(grant, schedule, isExempt),
      claimsLostBefore: isExempt ? 0 : (sessions.server?.serverSince ?? 0),
      leaseEndedAt: this.#leaseEndOf(endedSession),
    };
    const term = new Term(this.replica, {
      name,
      holder,
      lockExpiryMs,
      session,
      grant,
      sent: at,
      leaseEpoch,
      known: this.known,
      backlog,
      takeover,
      schedule,
    });
    this.#lastTerm = term;
    term.signal.addEventListener('abort', () => {
      if (term.end === 'expired') this.#lastLeader.expired(holder);
    });
    return term;
  }

  /** When the lease of the last leader ended. Undefined: it gave the lock back, or it was this replica, which knows its runs. */
  #leaseEndOf(session: SessionId | undefined): number | undefined {
    if (session === undefined || replicaOf(session) === this.replica.id) return undefined;
    const heartbeatAt = this.replica.sessions.lastHeartbeatOf(session);
    const lifeMs = lockExpiryOf(session);
    return heartbeatAt === undefined ? undefined : heartbeatAt + lifeMs - safetyMarginMs(lifeMs);
  }

  async #refused(refusal: Refusal, stop: AbortSignal): Promise<void> {
    const { replica } = this;
    const { name } = this.options;
    const { reason, holder, storeTime, ttlRestored } = refusal;
    this.known.refused(refusal);
    if (ttlRestored && holder !== undefined) replica.notify('lockTtlRestored', { job: name, holder });
    if (holder === undefined) this.#holder = undefined;
    else this.#follow(holder);
    switch (reason) {
      case 'held':
        this.#waitForHolder(refusal.ttlMs);
        return;
      case 'paused':
        this.#requestAsSafetyNet();
        return;
      case 'too-early':
        this.#requestAfterWait(storeTime);
        return;
      case 'outdated':
        await this.#outdated(stop);
    }
  }

  /** The request relied on old facts, so a heartbeat comes first. If that shows a break, {@link breakNoticed} sets the time of the next request. */
  async #outdated(stop: AbortSignal): Promise<void> {
    const { sessions, random } = this.replica;
    const { server } = sessions;
    const isAnswered = await sessions.refresh(stop);
    const isSameServer = sessions.server?.serverSince === server?.serverSince;
    if (!isAnswered) this.#requestIn(shortPauseMs(random));
    else if (isSameServer || this.#mayLeadAgainAtOnce()) this.#requestIn(random() * TTL_JITTER_MS);
  }

  /**
   * Whether no other replica can have led since the last term of this one. That is certain if the store answered that the lock was lost,
   * the deadline has not passed, and no later living holder is known. After a release or the end of the session, another may have led.
   */
  #mayLeadAgainAtOnce(): boolean {
    const term = this.#lastTerm;
    return term?.end === 'preempted' && isBefore(this.replica.clock, term.deadline);
  }

  #follow(holder: Holder): void {
    this.#holder = holder;
    this.#lastHolder = holder;
    this.#lastLeader.acquired(holder);
    // a living replica has led since the last term of this one; a lock that names an ended session is only old data
    if (replicaOf(holder) !== this.replica.id && !this.#holderHasEnded()) this.#lastTerm = undefined;
  }

  /** Sets the time of the next request for everything that no event reports. `ttlMs` is the life of the lock in the answer of the store. */
  #waitForHolder(ttlMs = lockLifeMs(this.options.lockExpiryMs)): void {
    const { sessions, random, clock } = this.replica;
    if (this.#holderHasEnded()) {
      this.#requestIn(this.#spreadMs());
      return;
    }
    this.#waitsForTtl = !this.#holderIsListed();
    // The life of the lock counts if no heartbeat will show the end of its holder. It also counts if the lock is not renewed: the data of
    // a restarted store may name a living holder that has left the lock.
    if (this.#waitsForTtl || ttlMs <= this.#renewedTtlMs) this.#requestIn(afterTtlMs(ttlMs, random));
    const untilCheckMs = this.#renewalCheckAtMs - clock.now();
    if (untilCheckMs > 0) this.#requestIn(untilCheckMs);
    if (sessions.hasNoticedBreak && this.#waitMs(sessions.storeNow()) > 0) this.#requestAfterWait();
    this.#requestAsSafetyNet();
  }

  /** Messages may get lost, so followers also send a request now and then. */
  #requestAsSafetyNet(): void {
    const { sessions, random, isSubscribed, jobs } = this.replica;
    if (!isSubscribed) this.#requestIn(REQUEST_WITHIN_MS * (1 - random() / 10));
    const followers = sessions.liveReplicasWith(this.options.lockExpiryMs) - 1;
    this.#requestIn(safetyNetMs({ followers, jobs }, random));
  }

  /** The session of the holder. Undefined: no holder is known, or it names no session. */
  get #holderSession(): SessionId | undefined {
    return this.#holder === undefined ? undefined : sessionOf(this.#holder);
  }

  /** Whether a heartbeat will show the end of the holder's session. */
  #holderIsListed(): boolean {
    const session = this.#holderSession;
    return session !== undefined && this.replica.sessions.isListed(session);
  }

  #holderHasEnded(): boolean {
    const session = this.#holderSession;
    return session !== undefined && this.replica.sessions.hasEnded(session);
  }

  /** Until when no replica may take the lock after a break, by the clock of the store. 0: there is no wait. */
  #notBefore(): number {
    const { server, serverKnownForMs } = this.replica.sessions;
    const lockExpiryMs = this.#longestExpiryMs;
    // if the clock of the store was set back, `serverSince` is far ahead
    const isOver = server?.serverId === undefined || serverKnownForMs >= lockExpiryMs;
    return isOver || this.#beganAfterBreak ? 0 : server.serverSince + lockExpiryMs;
  }

  /**
   * Whether the state of the job was created on this server, and this replica has noticed no break. Then no lock of the job was lost in an
   * earlier break.
   */
  get #beganAfterBreak(): boolean {
    const { server, hasNoticedBreak } = this.replica.sessions;
    const { stateCreatedAt } = this.known;
    return (
      !hasNoticedBreak && server !== undefined && stateCreatedAt !== undefined && stateCreatedAt >= server.serverSince
    );
  }

  /** How long no replica may take the lock after a break: by the clock of the store or of this replica, whichever ends first. */
  #waitMs(storeTime: number): number {
    const restMs = this.#longestExpiryMs - this.replica.sessions.serverKnownForMs;
    return Math.min(this.#notBefore() - storeTime, restMs);
  }

  /** Every follower sends a request after the wait that follows a break. */
  #requestAfterWait(storeTime = this.replica.sessions.storeNow()): void {
    this.#requestIn(this.#waitMs(storeTime) + AFTER_TTL_MS + this.#spreadMs());
  }

  /** A lock with a shorter life is not renewed by its leader. */
  get #renewedTtlMs(): number {
    const session = this.#holderSession;
    return session === undefined ? 0 : lockLifeMs(lockExpiryOf(session)) - RENEWAL_CHECK_MS;
  }

  /** The `lockExpiry` of the job, or of the last known holder if that is longer. */
  get #longestExpiryMs(): number {
    const session = this.#lastHolder === undefined ? undefined : sessionOf(this.#lastHolder);
    return Math.max(this.options.lockExpiryMs, session === undefined ? 0 : lockExpiryOf(session));
  }

  /** Sends the next request after `delayMs` at the latest, if this replica competes for the lock. */
  #requestIn(delayMs: number): void {
    this.#sleeper?.wakeIn(delayMs);
  }

  /** A random wait. It is longer for a replica that leads more jobs than its share, so that jobs spread over the replicas. */
  #spreadMs(): number {
    const { sessions, random, led, jobs } = this.replica;
    const last = this.#lastHolder === undefined ? undefined : replicaOf(this.#lastHolder);
    const lastIsAlive = last !== undefined && last !== this.replica.id && sessions.isAlive(last);
    const others = sessions.liveReplicas - 1 - (lastIsAlive ? 1 : 0);
    const fairShare = Math.max(jobs, 1) / sessions.liveReplicas;
    // limited: one replica may be left with the sessions of dead ones, and lead all jobs
    const load = Math.min(led / fairShare, MOST_LOAD);
    const extraMs = load > 1 ? ABOVE_SHARE_MS : 0;
    return Math.max(others, 0) * (random() * SPREAD_MS * (0.5 + load) + extraMs);
  }
}
