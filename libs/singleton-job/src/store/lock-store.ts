import { type LockStoreError } from '../base/errors/lock-store.error.js';

/**
 * Where locks and sessions live: a store of this package, or one of your own.
 *
 * **Three answers.** A method that resolves has a certain answer, yes or no. A method that rejects says *unknown*: the request
 * may have been carried out, may never be, or may be carried out later. A store never turns a failure into "no". It sends a
 * request once and never repeats it. It need not limit how long it waits for an answer. A rejection with a `LockStoreError`
 * says which kind of failure it was (`code`), and whether the request left the process (`wasSent`).
 *
 * **One step each.** Every method is one atomic step of the store: nothing else happens between its checks and its writes.
 *
 * **A late request lowers nothing.** `token`, and every number of a {@link StateUpdate}, is only ever raised.
 *
 * **Times** in requests and results are milliseconds since the epoch by the clock of the *store*. Names of locks are unique
 * within a project. A store that serves several projects keeps them apart itself.
 *
 * `describeLockStore` of `nestjs-singleton-job/testing` checks all of this on a store of your own.
 */
export interface LockStore {
  /** What log lines and errors call it: `Redis`, for example in "Redis is unavailable". */
  readonly name: string;

  /**
   * Keeps the sessions of one replica alive, and answers which sessions have ended. The store does this in order:
   *
   * 1. If its clock is behind that of an earlier heartbeat, it was set back. Then no end is later than a heartbeat of now would set it:
   *    now + `lockExpiryMs` for a living session, now for one that is marked as ended. The list has not changed by that.
   * 2. It forgets each session whose end passed two lives of a lock ago: 2 × {@link lockLifeMs}. Replicas do the same with their lists.
   * 3. It notices a restart: this is another server than before, or the data was lost. Then it notes the server and the time. Every
   *    session that is not marked as ended gets a full life from now.
   * 4. It marks every session whose end has passed as ended, for good.
   * 5. It sets the end of each session of the request to now + `lockExpiryMs`, also if that is earlier than before. A session that is
   *    marked as ended stays ended. A session that is not listed is listed again.
   *
   * The exception to step 5 is a session that is not listed and whose `confirmedEnd` has passed. It is answered as ended and not
   * listed: the request may be an old one that arrives late, while the session is alive.
   */
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult>;

  /**
   * Marks a session as ended, for good, and keeps the end that a heartbeat confirmed last. Nothing may run under the session any more.
   * Ending a session twice, or one that is not listed, is fine.
   */
  endSession(session: SessionToKeep): Promise<void>;

  /**
   * Takes a lock if that is allowed: see {@link AcquireRequest}. The lock may hold this very `holder` already, because the answer to
   * the same request was lost. Then its life starts anew and the token stays the same, also before `notBefore`.
   *
   * A grant creates the state where there is none, and changes `token` and `stateCreatedAt` only. A refusal changes nothing,
   * except that a lock without a time to live gets one.
   */
  acquire(request: AcquireRequest): Promise<AcquireResult>;

  /** Starts the life of a lock anew if `holder` has it, and records `update`. Otherwise it changes nothing. */
  renew(request: RenewRequest): Promise<RenewResult>;

  /**
   * Takes a cron occurrence for the holder of the lock, right before its run. No other replica can start it then. If `holder` has
   * the lock, this also renews it and records `update`, whatever the outcome.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;

  /**
   * Frees a lock that `holder` has, records `update` and publishes the release, all in one step. A message that cannot be sent does
   * not make the release fail. Releasing a lock that another holder has, or none, changes nothing and publishes nothing.
   */
  release(request: ReleaseRequest): Promise<ReleaseResult>;

  /**
   * Pauses a job, or ends its pause, on all replicas. Pausing a paused job keeps the time at which it was paused first. The lock does
   * not change: its holder gives it back. A state that has only `pausedAt` has no `stateCreatedAt`, and counts as no state everywhere
   * else. A request that is carried out late undoes a newer one.
   *
   * If a pause has begun or ended by that, `pausesVersion` of heartbeats has grown when this resolves. So a replica that missed the message
   * of a resume sends its next request after a heartbeat. A store on several servers may raise it in a second step, and more often.
   */
  setPaused(request: SetPausedRequest): Promise<SetPausedResult>;

  /** Reads many locks at once, in the order of `names`, for people: nothing relies on it. Left out: the store cannot. */
  readLocks?(names: readonly string[]): Promise<readonly LockOverview[]>;

  /** Sends a message to all replicas. Delivered at most once. */
  publish(message: StoreMessage): Promise<void>;

  /** Calls `listener` from now on. Returns a function that removes it. */
  addListener(listener: LockStoreListener): () => void;

  /** Whether messages are received at the moment. */
  readonly isSubscribed: boolean;

  /** Begins to connect. Neither waits for the connection nor fails without one. */
  open(): void;

  /** Closes the connections and everything else that keeps the process alive. Later requests reject. */
  close(): Promise<void>;
}

/** What a store reports by itself. */
export interface LockStoreListener {
  /** Requests are answered from now on. Called again after each `disconnected`. A store without connections never calls it. */
  connected?(): void;
  /**
   * There is no connection. All open requests are rejected, and all later ones until `connected`. Called once more during an outage if
   * its cause shows only then, and if a person must change something, such as the password. A store without connections never calls it.
   */
  disconnected?(error: LockStoreError): void;
  /** Messages are received from now on. Messages that were sent before are lost. */
  subscribed?(): void;
  /** Messages are no longer received. */
  unsubscribed?(): void;
  /** A message arrived. Called for messages of this replica too. Never called while `isSubscribed` is false. */
  message?(message: StoreMessage): void;
  /** Messages cannot be sent or received until a person changes something, such as a permission. Locks work all the same. */
  messagesDenied?(error: LockStoreError): void;
  /** A person should look at the server. Called once for each condition. */
  warning?(warning: StoreWarning): void;
}

/** A condition of the server that puts locks at risk, such as a setting. It is reported as the event `warning`. */
export interface StoreWarning {
  /** Names the condition. Stable, unlike the message. */
  readonly code: string;
  /** What happened, and what to do. The log puts the name of the project before it. */
  readonly message: string;
}

/**
 * The holder of a lock as it stands in the store: `session#attempt`, for example `pod-1-5f3a.2@10000#17`. A lock of `LockService` has no
 * session: `pod-1-5f3a#18`. Any other text is a holder that is not of this library, for example SingletonJob for .NET.
 */
export type Holder = string;

/** A session: `replica.n@lockExpiryMs`, for example `pod-1-5f3a.2@10000`. `n` counts all sessions of the process. */
export type SessionId = string;

/** A session as its replica knows it. */
export interface SessionToKeep {
  /** The session. */
  readonly id: SessionId;
  /** How long it lives after each heartbeat, in milliseconds. */
  readonly lockExpiryMs: number;
  /** The end that the store confirmed last. Undefined: it was never confirmed. */
  readonly confirmedEnd: number | undefined;
}

/** The sessions that a replica keeps alive with a heartbeat. */
export interface HeartbeatRequest {
  /** The sessions of this replica that are not over. Without any, the heartbeat changes no session of this replica. */
  readonly sessions: readonly SessionToKeep[];
  /** `version` and `serverSince` of the answer up to which this replica has the list of sessions. Undefined: it has none. */
  readonly knownList:
    | {
        /** The `version` of that list. */
        readonly version: number;
        /** The `serverSince` of that list. */
        readonly serverSince: number;
      }
    | undefined;
}

/** The answer to a heartbeat. */
export interface HeartbeatResult {
  /** The time of the store when it answered. */
  readonly storeTime: number;
  /** One for each session of the request, in the same order. */
  readonly sessions: readonly SessionResult[];
  /** The server that answered. Changes when the server restarts or another takes its place. Undefined: the server does not show it. */
  readonly serverId: string | undefined;
  /** When a heartbeat first saw this server, or first found that its data was lost. 0 if `serverId` is undefined. */
  readonly serverSince: number;
  /** Grows whenever a session was listed or has ended. It does not grow when the store forgets a session. */
  readonly version: number;
  /**
   * When the next session of another replica ends, unless that replica extends it. Only sessions with the `lockExpiryMs` of a session
   * in the request count. Undefined: there is none.
   */
  readonly nextEnd: number | undefined;
  /** The sessions that were listed or have ended since `knownList`. Every listed session if `isWholeList` is true. */
  readonly changes: ReadonlyMap<SessionId, ListedSession>;
  /** There is no `knownList`, its `serverSince` is another, or its `version` is higher than that of the store. */
  readonly isWholeList: boolean;
  /** How many sessions are listed. A replica with another number of them has a wrong list. It asks for the whole list. */
  readonly listedCount: number;
  /** Grows whenever a pause of any job has begun or ended. 0 if there was none. See {@link LockStore.setPaused}. */
  readonly pausesVersion: number;
}

/** What a heartbeat did to a session of its request. */
export interface SessionResult {
  /** `listed-again`: it had been confirmed and was not listed. */
  readonly status: 'extended' | 'listed-again' | 'ended';
  /** When the session ends, or ended. */
  readonly end: number;
}

/** A session of any replica, as the store lists it. */
export interface ListedSession {
  /** True: for good. Nothing runs under the session any more. */
  readonly hasEnded: boolean;
  /**
   * For an ended session its last confirmed end: `lockExpiryMs` after its last heartbeat, also if the replica ended it earlier. For another
   * one the end when the store answered. Later heartbeats of its replica are no change of the list.
   */
  readonly end: number;
}

/** The server and the state of sessions that an acquire request relies on. */
export interface HeartbeatReference {
  /** The `serverId` of the last heartbeat. */
  readonly serverId: string | undefined;
  /** The `serverSince` of the last heartbeat. */
  readonly serverSince: number;
}

/**
 * A lock is granted if
 *
 * - it has no holder, or its holder names the session `endedSession`, or the session of `holder` with a lower attempt; and
 * - the job is not paused; and
 * - `heartbeat` is still true: this is the same server, and no restart was noticed since; and
 * - the lock is still kept by `knownServerId`, if the replica knows one; and
 * - the state is the one that the replica knows, if it knows one: `knownStateCreatedAt` is its `stateCreatedAt`; and
 * - `notBefore` has passed, or `isFirstStart` is true and the lock has no state.
 */
export interface AcquireRequest {
  /** Name of the lock. */
  readonly name: string;
  /** The holder that the lock gets. */
  readonly holder: Holder;
  /** How long the lock lives without a renewal, in milliseconds. */
  readonly lifeMs: number;
  /** Highest fencing token of this lock that the replica has seen, 0 if none. The new one is higher, also after data loss. */
  readonly seenToken: number;
  /** A session that the replica knows to have ended. Its locks may be taken. */
  readonly endedSession: SessionId | undefined;
  /** Left out by `LockService`, which has no sessions. */
  readonly heartbeat: HeartbeatReference | undefined;
  /** `serverId` of the last answer about this lock. */
  readonly knownServerId: string | undefined;
  /** `stateCreatedAt` of the state that the replica knows. */
  readonly knownStateCreatedAt: number | undefined;
  /** Until then no replica may take the lock. 0: it may be taken at any time. */
  readonly notBefore: number;
  /** The replica knows nothing of this lock: it waits for `notBefore` only if there is a state. */
  readonly isFirstStart: boolean;
  /** The state is deleted so long after the lock was last granted or renewed. Undefined: never. For locks of `LockService`. */
  readonly stateLifeMs: number | undefined;
}

/** The answer to an acquire request. */
export type AcquireResult = Grant | Refusal;

/** The lock was granted to `holder` of the request. */
export interface Grant extends JobState {
  /** True: the lock was granted. */
  readonly granted: true;
  /** max(stored + 1, the time of the store, `seenToken` + 1). The same again for a repeated request. */
  readonly token: number;
  /** When the state of the lock was created. */
  readonly stateCreatedAt: number;
  /** The server that keeps the lock, where that may be another than the one of the sessions. Undefined: there is only one, or it is not shown. */
  readonly serverId: string | undefined;
  /** The time of the store when it answered. */
  readonly storeTime: number;
  /** The holder that the lock named until then. Undefined: it was free. */
  readonly previousHolder: Holder | undefined;
}

/**
 * - `held`: another holder has the lock.
 * - `paused`: the job is paused. Not for the request of a holder that has the lock already.
 * - `too-early`: the lock could be taken, but `notBefore` has not passed.
 * - `outdated`: the server, the session data or the state is not the one that the request relies on. The replica sends a heartbeat first.
 *
 * If several apply: `held` before `paused` before `outdated` before `too-early`.
 */
export type RefusalReason = 'held' | 'paused' | 'too-early' | 'outdated';

/** The lock was not granted. */
export interface Refusal extends JobState {
  /** False: the lock was not granted. */
  readonly granted: false;
  /** Why the lock was not granted. */
  readonly reason: RefusalReason;
  /** The holder of the lock. Undefined: the lock is free. */
  readonly holder: Holder | undefined;
  /** How long the lock lives unless it is renewed, in milliseconds. 0 without a holder. */
  readonly ttlMs: number;
  /** The newest fencing token, 0 if there is no state. */
  readonly token: number;
  /** Undefined if there is no state. */
  readonly stateCreatedAt: number | undefined;
  /** The server that keeps the lock, where that may be another than the one of the sessions. Undefined: there is only one, or it is not shown. */
  readonly serverId: string | undefined;
  /** The time of the store when it answered. */
  readonly storeTime: number;
  /** The lock had no time to live and would have stayed for ever. It was given `lifeMs`. */
  readonly ttlRestored: boolean;
}

/** What the store keeps of a job beside its lock. A field is undefined until it was written. Times are by the clock of the store. */
export interface JobState {
  /** The newest occurrence of a cron job that was claimed or reported. */
  readonly claimed: number | undefined;
  /** Holder and token of the claim of `claimed`, as `holder token`. Undefined: it was not claimed. */
  readonly claimedBy: string | undefined;
  /** The newest occurrence whose run began, or that was reported. Below `claimed`: a run was claimed and maybe never began. */
  readonly handled: number | undefined;
  /** The newest slot of a fixed rate, or occurrence of a cron job, whose run began. A new cron schedule begins at its first grant. */
  readonly slot: number | undefined;
  /** When the last run of an interval began. Only delays above 10 s record it. */
  readonly runStartedAt: number | undefined;
  /** When the last run of an interval ended. */
  readonly runEndedAt: number | undefined;
  /** The last run, as {@link StateUpdate} has it. */
  readonly lastRun: string | undefined;
  /** The schedule of the last leader in words, such as `cron 0 3 * * * UTC`. */
  readonly schedule: string | undefined;
  /** When the job was paused on all replicas. Undefined: it is not paused. */
  readonly pausedAt: number | undefined;
}

/**
 * What a leader records. A field that is left out stays as it is. Numbers are raised, never lowered. The exception is a time of a run that is
 * in the future, because the clock of the store was set back: it is cut to now.
 *
 * A handled occurrence counts as claimed: `claimed` is raised to `handled`, and then has no `claimedBy`.
 *
 * `lastRun` begins with digits, always the same number of them. It replaces one with smaller digits: two renewals may arrive in another
 * order.
 */
export type StateUpdate = Partial<
  Pick<JobState, 'claimed' | 'handled' | 'slot' | 'runStartedAt' | 'runEndedAt' | 'lastRun' | 'schedule'>
>;

/** The renewal that a leader sends to keep its lock. */
export interface RenewRequest {
  /** Name of the lock. */
  readonly name: string;
  /** The lock is renewed only if this holder has it. */
  readonly holder: Holder;
  /** How long the lock lives from now on, in milliseconds. */
  readonly lifeMs: number;
  /** What is recorded if the lock is renewed. */
  readonly update: StateUpdate;
  /** As in {@link AcquireRequest}: the state gets a new life of this length if the lock is renewed. Undefined: its life does not change. */
  readonly stateLifeMs?: number | undefined;
}

/** The answer to a renewal. */
export interface RenewResult {
  /** False is certain: `holder` of the request does not have the lock, and never will again. */
  readonly held: boolean;
  /** The holder of the lock now. Undefined: the lock is free. */
  readonly holder: Holder | undefined;
  /** When the job was paused: its holder has to give the lock back. Undefined: it is not paused. */
  readonly pausedAt: number | undefined;
  /** The time of the store when it answered. */
  readonly storeTime: number;
}

/** The claim that a leader sends before it runs a cron occurrence. */
export interface ClaimRequest extends Omit<RenewRequest, 'stateLifeMs'> {
  /** The fencing token of its term. */
  readonly token: number;
  /** The occurrence. */
  readonly scheduledAt: number;
}

/**
 * - `claimed`: this term has the occurrence now and may run it.
 * - `already-ours`: an earlier request of this term claimed it, and its answer was lost. The term may run it.
 * - `taken`: this occurrence, or a newer one, was claimed or reported before.
 * - `too-early`: more than {@link CLAIM_LEAD_MS} ahead of the clock of the store. Nothing was claimed.
 * - `paused`: it could be claimed, but the job is paused. Nothing was claimed.
 * - `not-leader`: `holder` of the request does not have the lock.
 */
export type ClaimOutcome = 'claimed' | 'already-ours' | 'taken' | 'too-early' | 'paused' | 'not-leader';

/** The answer to a claim. */
export interface ClaimResult {
  /** Whether the occurrence was claimed, and if not, why. */
  readonly outcome: ClaimOutcome;
  /** The newest occurrence claimed, 0 if none. */
  readonly claimed: number;
  /** The holder of the lock now. Undefined: the lock is free. */
  readonly holder: Holder | undefined;
  /** As in {@link RenewResult}. */
  readonly pausedAt: number | undefined;
  /** The time of the store when it answered. */
  readonly storeTime: number;
}

/** The release that a leader sends to give its lock back. */
export interface ReleaseRequest {
  /** Name of the lock. */
  readonly name: string;
  /** The lock is released only if this holder has it. */
  readonly holder: Holder;
  /** The fencing token of the term, for the message. 0: the lock may never have been granted. */
  readonly token: number;
  /** What is recorded if the lock is released. */
  readonly update: StateUpdate;
}

/** The answer to a release. */
export interface ReleaseResult {
  /** False: `holder` of the request did not have the lock. */
  readonly released: boolean;
  /** The time of the store when it answered. */
  readonly storeTime: number;
}

/** Pauses a job on all replicas, or ends the pause. */
export interface SetPausedRequest {
  /** The lock of the job. Locks of `LockService` are never paused. */
  readonly name: string;
  /** Whether the job is paused from now on. */
  readonly isPaused: boolean;
}

/** What the store knows of a lock, for an overview of many jobs. */
export interface LockOverview {
  /** The holder of the lock. Undefined: it is free. */
  readonly holder: Holder | undefined;
  /** As in {@link JobState}. */
  readonly lastRun: string | undefined;
  /** As in {@link JobState}. */
  readonly pausedAt: number | undefined;
}

/** The job after the request. */
export interface SetPausedResult {
  /** When the job was paused. Undefined: it is not paused. */
  readonly pausedAt: number | undefined;
  /** The holder of the lock now. Undefined: the lock is free. */
  readonly holder: Holder | undefined;
  /** The time of the store when it answered. */
  readonly storeTime: number;
}

/** A message between replicas. A store does not deliver a kind that it does not know: a later version of the library sent it. */
export type StoreMessage =
  LockMessage | SessionsEndedMessage | JobCommandRequest | JobCommandReply | OfferMessage | HandOverMessage;

/** Locks that were granted or released. Messages may arrive late or out of order; a larger token is newer. */
export interface LockMessage {
  /** What happened to them. */
  readonly kind: 'granted' | 'released';
  /** Each lock once. */
  readonly locks: readonly {
    /** Name of the lock. */
    readonly name: string;
    /** The holder to which it was granted, or that released it. */
    readonly holder: Holder;
    /** The fencing token of the term. 0 for a release: the lock may never have been granted. */
    readonly token: number;
  }[];
}

/** Sessions that a process ended in the store right before it ended itself. Replicas read that with a heartbeat, which they send at once. */
export interface SessionsEndedMessage {
  /** The kind of the message. */
  readonly kind: 'sessions-ended';
  /** The sessions of the process. */
  readonly sessions: readonly SessionId[];
}

/**
 * A request to all replicas. The leader acts on `trigger` and `step-down`. `pause` and `resume` say that the pause of the job has
 * changed in the store: every replica sends its next request to the store at once.
 */
export interface JobCommandRequest {
  /** The kind of the message. */
  readonly kind: 'request';
  /** Unique for each request. A request that arrives twice is carried out once. */
  readonly id: string;
  /** What to do. */
  readonly action: 'trigger' | 'step-down' | 'pause' | 'resume';
  /** The job. */
  readonly name: string;
  /** A leader that reads a `trigger` or a `step-down` later, by the clock with which the store answers about the lock, does not act on it. */
  readonly expiresAt: number;
}

/** The answer to a {@link JobCommandRequest}, by the replica that acts on it. */
export interface JobCommandReply {
  /** The kind of the message. */
  readonly kind: 'reply';
  /** The `id` of the request. */
  readonly id: string;
  /** The replica that acts: its name as {@link replicaOf} returns it. */
  readonly replicaId: string;
  /** `done`: the request is being carried out. The others are reasons why a leader started no run. */
  readonly outcome: 'done' | 'running' | 'lease-unconfirmed';
  /** The run that a `trigger` started, `startedAt` by the clock of its replica. Null: there is none. */
  readonly run: {
    /** The fencing token of the term. */
    readonly fencingToken: number;
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
  } | null;
}

/**
 * How leaderships even out. With an `offer` a replica asks which replicas compete for some of its jobs and lead at least two jobs fewer. A
 * `bid` is the answer.
 */
export interface OfferMessage {
  /** The kind of the message. */
  readonly kind: 'offer' | 'bid';
  /** Unique for each offer. A bid has that of its offer. */
  readonly id: string;
  /** The replica that sends the message: its name as {@link replicaOf} returns it. */
  readonly replicaId: string;
  /** How many jobs this replica leads. */
  readonly leading: number;
  /** The jobs that are offered, or those of them that this replica would take. */
  readonly names: readonly string[];
}

/** A leader is about to release jobs for one replica. That replica requests them at once, and the others wait longer than usual. */
export interface HandOverMessage {
  /** The kind of the message. */
  readonly kind: 'hand-over';
  /** The replica that takes them. */
  readonly replicaId: string;
  /** The terms that end. */
  readonly terms: readonly {
    /** Name of the job. */
    readonly name: string;
    /** The fencing token of the term. */
    readonly token: number;
  }[];
}

/** An occurrence further ahead of the clock of the store than this, in milliseconds, cannot be claimed yet. */
export const CLAIM_LEAD_MS = 60_000;

/** How long a lock of a job lives without renewal, in milliseconds. It outlives its session, so that followers go by the session. */
export function lockLifeMs(lockExpiryMs: number): number {
  return Math.max(lockExpiryMs + 20_000, 35_000);
}

/** The replica of a holder or session: `pod-1-5f3a`. Undefined for a holder that is not of this library (one without a `#`). */
export function replicaOf(id: Holder): string | undefined {
  const hash = id.lastIndexOf('#');
  const owner = hash === -1 ? id : id.slice(0, hash);
  return hash === -1 && !SESSION.test(id) ? undefined : owner.replace(SESSION, '');
}

/** The name of a holder in logs: its replica, or the whole text for a holder that is not of this library. */
export function holderName(holder: Holder): string {
  return replicaOf(holder) ?? holder;
}

/** The session that a holder names. Undefined: it names none. */
export function sessionOf(holder: Holder): SessionId | undefined {
  const hash = holder.lastIndexOf('#');
  const session = hash === -1 ? '' : holder.slice(0, hash);
  return SESSION.test(session) ? session : undefined;
}

/** The `lockExpiryMs` that a session id carries. */
export function lockExpiryOf(session: SessionId): number {
  return Number(SESSION.exec(session)?.[2] ?? 0);
}

// read from the right: the name of a node may contain dots and @
const SESSION = /\.(\d+)@(\d+)$/;
