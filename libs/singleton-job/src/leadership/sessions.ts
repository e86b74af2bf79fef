import {
  type HeartbeatReference,
  type HeartbeatRequest,
  type HeartbeatResult,
  lockExpiryOf,
  type SessionId,
} from '../store/index.js';
import { type StoreClient } from './store-client/store-client.js';
import { type Clock, instant, type Instant, type Timer } from '../time/index.js';
import { type HeartbeatBackup } from './backup-heartbeats.js';
import { Session } from './session.js';
import { SessionList } from './session-list.js';

/** How long {@link Sessions.refresh} waits for an answer. */
const REFRESH_MS = 250;

interface SessionsParts {
  /** `nodeId-random`. */
  readonly replicaId: string;
  readonly client: StoreClient;
  readonly clock: Clock;
  /** The heartbeat interval of the module. A shorter `lockExpiry` may need a shorter one. */
  readonly heartbeatIntervalMs: number;
  readonly listener: SessionsListener;
  /** The heartbeat thread, which sends heartbeats while this one is blocked. */
  readonly backup?: HeartbeatBackup | undefined;
}

/** What followers and leaders need to know about sessions. */
interface SessionsListener {
  /** The list of sessions has changed. */
  listChanged(): void;
  /** Locks may be lost: a heartbeat extends a lease only after its lock has been renewed. */
  leasesFrozen(): void;
  /** A break: another server, or its data was lost. */
  breakNoticed(): void;
  /** A pause of some job has begun or ended. */
  pausesChanged(): void;
  /** A heartbeat was answered. */
  heartbeatAnswered(): void;
}

/**
 * The sessions of this replica, one for each distinct `lockExpiry`, and what it knows about the sessions of other replicas. One heartbeat
 * keeps all sessions of this replica alive.
 */
export class Sessions {
  readonly #current = new Map<number, Session>();
  /** How many jobs compete, by `lockExpiry`. */
  readonly #jobs = new Map<number, number>();
  #count = 0;
  #timer: Timer | undefined;
  #nextEndTimer: Timer | undefined;
  #isStopped = false;
  #failures = 0;
  #leaseEpoch = 0;
  #hasNoticedBreak = false;
  /** No heartbeat was answered on the current connection yet. */
  #isFirstOnConnection = false;
  #server: HeartbeatReference | undefined;
  #serverMetAtMs = 0;
  /** When the newest heartbeat was sent, answered or not. */
  #beatMs = 0;
  /** The backup has listed a session again: locks may be lost. */
  #backupListedAgain = false;
  readonly #list = new SessionList();
  #pausesVersion: number | undefined;
  #storeTime = { time: 0, atMs: 0 };
  #refresh: Promise<boolean> | undefined;
  /** Counts answered heartbeats. */
  #answers = 0;
  readonly #waiting = new Set<() => void>();
  /** When the newest heartbeat was sent that was answered. */
  #answeredSent: Instant | undefined;

  constructor(private readonly parts: SessionsParts) {}

  /**
   * Counts the events after which locks may be lost: breaks, and lost lists of sessions. The answer to a request of an earlier epoch
   * proves nothing about a lock.
   */
  get leaseEpoch(): number {
    return this.#leaseEpoch;
  }

  /** Whether this replica has noticed a restart of the store or a loss of its data. */
  get hasNoticedBreak(): boolean {
    return this.#hasNoticedBreak;
  }

  /** The server that answered the latest heartbeat, and its `serverSince`. Undefined before the first answer. */
  get server(): HeartbeatReference | undefined {
    return this.#server;
  }

  /** For how long this replica has known the server and its data, by its own clock. */
  get serverKnownForMs(): number {
    return this.parts.clock.now() - this.#serverMetAtMs;
  }

  /** How long ago the newest answered heartbeat was sent. */
  get unansweredForMs(): number {
    return this.#answeredSent === undefined ? 0 : this.parts.clock.now() - this.#answeredSent.now;
  }

  /** How many replicas are alive, this one included. */
  get liveReplicas(): number {
    return Math.max(this.#list.living().size, 1);
  }

  /** How many replicas have a living session with this `lockExpiry`. */
  liveReplicasWith(lockExpiryMs: number): number {
    return this.#list.living(lockExpiryMs).size;
  }

  /** How often heartbeats are sent. A session outlives two lost heartbeats. */
  get intervalMs(): number {
    const shortestMs = Math.min(...this.#current.keys());
    const { heartbeatIntervalMs } = this.parts;
    return 3 * heartbeatIntervalMs > shortestMs ? shortestMs / 4 : heartbeatIntervalMs;
  }

  /** Adds a job with this `lockExpiry` until the returned function is called. The session ends with its last job. */
  join(lockExpiryMs: number): () => void {
    this.#jobs.set(lockExpiryMs, (this.#jobs.get(lockExpiryMs) ?? 0) + 1);
    this.of(lockExpiryMs);
    return () => {
      const others = (this.#jobs.get(lockExpiryMs) ?? 0) - 1;
      this.#jobs.set(lockExpiryMs, others);
      if (others > 0) return;
      const session = this.#current.get(lockExpiryMs);
      this.#current.delete(lockExpiryMs);
      session?.end();
      this.#updateBackup();
    };
  }

  /** The session for jobs with this `lockExpiry`. It can be used once it is trusted. */
  of(lockExpiryMs: number): Session {
    return this.#current.get(lockExpiryMs) ?? this.#begin(lockExpiryMs);
  }

  /** Whether a session can never be extended again, so that its locks may be taken. */
  hasEnded(id: SessionId): boolean {
    return this.#list.get(id)?.hasEnded === true;
  }

  /** Whether a session is listed. A session that is not listed may still be alive: the list may be lost. */
  isListed(id: SessionId): boolean {
    return this.#list.get(id) !== undefined;
  }

  /** When an ended session sent its last heartbeat, by the clock of the store. Undefined: not known. */
  lastHeartbeatOf(id: SessionId): number | undefined {
    const session = this.#list.get(id);
    return session === undefined ? undefined : session.end - lockExpiryOf(id);
  }

  /** Whether a replica has a session that has not ended. */
  isAlive(replicaId: string): boolean {
    return this.#list.living().has(replicaId);
  }

  /** The time of the store: its latest answer plus the monotonic time since then. */
  storeNow(): number {
    return this.#storeTime.time + (this.parts.clock.now() - this.#storeTime.atMs);
  }

  /** Resolves when a heartbeat is answered, or `signal` aborts. */
  nextAnswer(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /**
   * Sends a heartbeat, unless one of this method is under way. Resolves when any heartbeat is answered, after 0.25 s, or when `signal`
   * aborts: to whether one was answered. A store need not limit how long a single answer takes.
   */
  async refresh(signal: AbortSignal): Promise<boolean> {
    this.#refresh ??= this.beat().finally(() => {
      this.#refresh = undefined;
    });
    const waiting = new AbortController();
    const end = (): void => {
      waiting.abort();
    };
    const timer = this.parts.clock.setTimer(REFRESH_MS, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const answered = this.#answers;
    if (!waiting.signal.aborted) await this.nextAnswer(waiting.signal);
    timer.cancel();
    signal.removeEventListener('abort', end);
    return this.#answers > answered;
  }

  /** Sends one heartbeat for all sessions, and the next one after an interval. Resolves to whether it was answered with a result. */
  async beat(): Promise<boolean> {
    if (this.#isStopped || this.#current.size === 0) return false;
    this.#schedule();
    const { client, clock } = this.parts;
    this.#takeReports();
    const sessions = [...this.#current.values()];
    const request: HeartbeatRequest = {
      sessions: sessions.map(({ id, lockExpiryMs, confirmedEnd }) => ({ id, lockExpiryMs, confirmedEnd })),
      knownList: this.#list.known,
    };
    const sent = instant(clock);
    this.#beatMs = sent.now;
    this.#updateBackup();
    try {
      const result = await client.store.heartbeat(request);
      this.#failures = 0;
      this.#learn(result, sessions, sent);
      client.heartbeatAnswered();
      return true;
    } catch (error: unknown) {
      this.#failures += 1;
      client.heartbeatFailed(error, this.#failures);
      return false;
    }
  }

  /** Sends the first heartbeat on a new connection, which may be to another server. */
  async greet(): Promise<void> {
    this.#isFirstOnConnection = this.#server !== undefined;
    await this.beat();
  }

  /** Stops the heartbeats. Ends the sessions under which nothing runs. The others expire by themselves. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#nextEndTimer?.cancel();
    for (const session of this.#current.values()) session.end();
    this.#current.clear();
    this.#updateBackup();
  }

  #begin(lockExpiryMs: number): Session {
    this.#count += 1;
    const { replicaId, clock, client, backup } = this.parts;
    const id = `${replicaId}.${this.#count}@${lockExpiryMs}`;
    const onUnused = ({ confirmedEnd }: Session): void => {
      if (confirmedEnd !== undefined) this.#endInStore({ id, lockExpiryMs, confirmedEnd });
    };
    const takeReports = (): void => {
      this.#takeReports();
    };
    const session = new Session(id, lockExpiryMs, clock, onUnused, backup && takeReports);
    this.#current.set(lockExpiryMs, session);
    session.signal.addEventListener('abort', () => {
      if (this.#current.get(lockExpiryMs) !== session || this.#isStopped) return;
      this.#begin(lockExpiryMs);
    });
    // one heartbeat lists all sessions that begin in this turn of the event loop
    void clock.afterIo().then(() => {
      if (client.isConnected && !session.isOver) void this.beat();
    });
    return session;
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = this.parts.clock.setTimer(this.intervalMs, () => void this.beat());
  }

  /** Applies what the heartbeat thread has confirmed. It works also right after a block, before the event loop has turned. */
  #takeReports(): void {
    for (const report of this.parts.backup?.takeReports() ?? []) {
      this.#backupListedAgain ||= report.isListedAgain;
      // the report is from before the leases were frozen
      if (report.leaseEpoch !== this.#leaseEpoch) continue;
      for (const { id, end } of report.extended) this.#withId(id)?.raise(report.sent, end, report.answeredMs);
    }
  }

  #withId(id: SessionId): Session | undefined {
    for (const session of this.#current.values()) if (session.id === id) return session;
    return undefined;
  }

  #updateBackup(): void {
    const { backup } = this.parts;
    if (backup === undefined || this.#server === undefined || this.#answeredSent === undefined) return;
    const sessions = [...this.#current.values()].flatMap((session) => {
      // the deadline first: reading it may change the confirmed end
      const { deadline } = session;
      const { id, lockExpiryMs, confirmedEnd } = session;
      return confirmedEnd === undefined || deadline === undefined ? [] : [{ id, lockExpiryMs, confirmedEnd, deadline }];
    });
    backup.update({
      beatMs: this.#beatMs,
      intervalMs: this.intervalMs,
      sessions,
      server: this.#server,
      answeredBeatMs: this.#answeredSent.now,
      knownList: this.#list.known,
      leaseEpoch: this.#leaseEpoch,
    });
  }

  #learn(result: HeartbeatResult, sessions: readonly Session[], sent: Instant): void {
    this.#takeReports();
    // a later heartbeat was answered first: this answer is out of date
    if (this.#answeredSent !== undefined && sent.now < this.#answeredSent.now) return;
    this.#answeredSent = sent;
    // without a server id, every reconnect may be to another server
    const mayBeOther = this.#isFirstOnConnection && result.serverId === undefined;
    this.#isFirstOnConnection = false;
    const { serverId, serverSince } = result;
    const isBreak =
      this.#server !== undefined && (this.#server.serverId !== serverId || this.#server.serverSince !== serverSince);
    if (this.#server === undefined || isBreak) this.#serverMetAtMs = this.parts.clock.now();
    this.#server = { serverId, serverSince };
    this.#storeTime = { time: result.storeTime, atMs: this.parts.clock.now() };
    const listHasChanged = this.#list.apply(result);
    const pausesHaveChanged = this.#pausesVersion !== undefined && this.#pausesVersion !== result.pausesVersion;
    this.#pausesVersion = result.pausesVersion;
    // before the sessions are extended: this answer must not extend a lease
    const isListedAgain = this.#backupListedAgain || result.sessions.some(({ status }) => status === 'listed-again');
    this.#backupListedAgain = false;
    if (isBreak || mayBeOther || isListedAgain) this.#freezeLeases();
    if (isBreak) this.#break();
    for (const [index, session] of sessions.entries()) {
      const answer = result.sessions[index];
      if (answer === undefined) continue;
      if (answer.status === 'ended') session.end();
      else session.extend(sent, answer.end);
    }
    this.#updateBackup();
    this.#awaitNextEnd(result);
    if (listHasChanged) this.parts.listener.listChanged();
    if (pausesHaveChanged) this.parts.listener.pausesChanged();
    this.parts.listener.heartbeatAnswered();
    this.#answers += 1;
    for (const done of [...this.#waiting]) done();
    // the list is wrong, so it is requested as a whole
    if (this.#list.known === undefined && !result.isWholeList) void this.beat();
  }

  #freezeLeases(): void {
    this.#leaseEpoch += 1;
    this.parts.listener.leasesFrozen();
  }

  #break(): void {
    this.#hasNoticedBreak = true;
    this.parts.client.breakNoticed();
    this.parts.listener.breakNoticed();
  }

  /** Sends a heartbeat at the moment at which the next session of another replica ends, unless that replica extends it. */
  #awaitNextEnd({ nextEnd, storeTime }: HeartbeatResult): void {
    this.#nextEndTimer?.cancel();
    this.#nextEndTimer = undefined;
    if (nextEnd === undefined || this.#isStopped) return;
    this.#nextEndTimer = this.parts.clock.setTimer(Math.max(nextEnd - storeTime, 0) + 1, () => void this.beat());
  }

  #endInStore(session: { readonly id: SessionId; readonly lockExpiryMs: number; readonly confirmedEnd: number }): void {
    const { client } = this.parts;
    const send = () => client.store.endSession(session);
    // after that the session has ended by itself
    client.inBackground({ name: undefined, kind: 'session', send }, session.lockExpiryMs);
  }
}
