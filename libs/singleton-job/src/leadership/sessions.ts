import {
  type HeartbeatReference,
  type HeartbeatRequest,
  type HeartbeatResult,
  type ListedSession,
  lockExpiryOf,
  replicaOf,
  type SessionId,
} from '../store/index.js';
import { type StoreClient } from '../store/client/index.js';
import { type Clock, instant, type Instant, type Timer } from '../time/index.js';
import { type HeartbeatBackup } from './backup-heartbeats.js';
import { Session } from './session.js';

/** A session that is not listed for so many of its lives counts as ended. */
const ABSENT_LIVES = 1.1;

interface SessionsParts {
  /** `nodeId-random`. */
  readonly replicaId: string;
  readonly client: StoreClient;
  readonly clock: Clock;
  /** The heartbeat interval of the module. A shorter `lockExpiry` may need a shorter one. */
  readonly heartbeatIntervalMs: number;
  readonly listener: SessionsListener;
  /** Another thread, which sends heartbeats while this one is blocked. */
  readonly backup?: HeartbeatBackup | undefined;
}

/** What followers and leaders have to know of sessions. */
interface SessionsListener {
  /** The list of sessions has changed, or some count as ended. */
  listChanged(): void;
  /** Locks may be lost: no heartbeat extends a lease until its own lock has been renewed. */
  leasesFrozen(): void;
  /** A break: another server, or its data was lost. */
  breakNoticed(): void;
  /** A heartbeat was answered. */
  heartbeatAnswered(): void;
}

interface Absence {
  readonly watchedMs: number;
  /** The first answer without the session. */
  first?: { readonly answeredMs: number; readonly version: number };
}

/**
 * The sessions of this replica, one for each distinct `lockExpiry`, and what it knows of those of other replicas.
 * One heartbeat keeps all of them alive.
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
  /** There is a new connection, and no heartbeat was answered on it. */
  #isFirstOnConnection = false;
  #server: HeartbeatReference | undefined;
  #serverMetAtMs = 0;
  /** When the newest heartbeat was sent. */
  #beatMs = 0;
  /** The backup has listed a session again: locks may be lost. */
  #backupListedAgain = false;
  #version = 0;
  #list: ReadonlyMap<SessionId, ListedSession> = new Map();
  /** The replicas of the sessions that have not ended. */
  #alive: ReadonlySet<string | undefined> = new Set();
  #liveReplicas = 1;
  #storeTime = { time: 0, atMs: 0 };
  #refresh: Promise<boolean> | undefined;
  readonly #waiting = new Set<() => void>();
  /** When the newest heartbeat was sent that was answered. */
  #answeredSent: Instant | undefined;
  /** Sessions of other replicas that are not listed: since when they are looked for, and when the first answer came without them. */
  readonly #absent = new Map<SessionId, Absence>();
  readonly #presumedEnded = new Set<SessionId>();

  constructor(private readonly parts: SessionsParts) {}

  /**
   * Counts the moments at which locks may have been lost: breaks, and lost lists of sessions. A request that was sent in an earlier
   * epoch proves nothing about a lock.
   */
  get leaseEpoch(): number {
    return this.#leaseEpoch;
  }

  /** Whether this replica has noticed a restart of the store or a loss of its data. */
  get hasNoticedBreak(): boolean {
    return this.#hasNoticedBreak;
  }

  /** The server that the latest heartbeat met, and since when. Undefined before the first answer. */
  get server(): HeartbeatReference | undefined {
    return this.#server;
  }

  /** For how long this replica has known the server and its data, by its own clock. */
  get serverKnownForMs(): number {
    return this.parts.clock.now() - this.#serverMetAtMs;
  }

  /** How long ago the newest heartbeat was sent that was answered. */
  get unansweredForMs(): number {
    return this.#answeredSent === undefined ? 0 : this.parts.clock.now() - this.#answeredSent.now;
  }

  /** How many replicas are alive, this one included. */
  get liveReplicas(): number {
    return Math.max(this.#liveReplicas, 1);
  }

  /** How often heartbeats are sent: a session outlives two that are lost. */
  get intervalMs(): number {
    const shortestMs = Math.min(...this.#current.keys());
    const { heartbeatIntervalMs } = this.parts;
    return 3 * heartbeatIntervalMs > shortestMs ? shortestMs / 4 : heartbeatIntervalMs;
  }

  /** A job with this `lockExpiry` competes until the returned function is called: the session of the last such job ends with it. */
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
    return this.#list.get(id)?.hasEnded ?? this.#presumedEnded.has(id);
  }

  /** Whether a session is listed. What is not listed proves nothing: it may be alive, and the list lost. */
  isListed(id: SessionId): boolean {
    return this.#list.has(id);
  }

  /** When an ended session sent its last heartbeat, by the clock of the store. Undefined: not known. */
  lastHeartbeatOf(id: SessionId): number | undefined {
    const session = this.#list.get(id);
    return session === undefined ? undefined : session.end - lockExpiryOf(id);
  }

  /** Whether a replica has a session that has not ended. */
  isAlive(replicaId: string): boolean {
    return this.#alive.has(replicaId);
  }

  /** From now on every heartbeat looks for a session that is not listed: absent for long enough, it counts as ended. */
  watch(id: SessionId): void {
    if (this.#list.has(id) || this.#absent.has(id)) return;
    this.#absent.set(id, { watchedMs: this.parts.clock.now() });
  }

  /** The clock of the store: its latest answer plus the monotonic time since. */
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

  /** One heartbeat for all callers while it is under way. Resolves to whether it was answered with a result. */
  refresh(): Promise<boolean> {
    this.#refresh ??= this.beat().finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  /** Sends one heartbeat for all sessions, and again after each interval. Resolves to whether it was answered with a result. */
  async beat(): Promise<boolean> {
    if (this.#isStopped || this.#current.size === 0) return false;
    this.#schedule();
    const { client, clock } = this.parts;
    this.#takeReports();
    const sessions = [...this.#current.values()];
    const request: HeartbeatRequest = {
      sessions: sessions.map(({ id, lockExpiryMs, confirmedEnd }) => ({ id, lockExpiryMs, confirmedEnd })),
      knownList:
        this.#server === undefined ? undefined : { version: this.#version, serverSince: this.#server.serverSince },
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

  /** The first heartbeat on a new connection, to a server that may be another. */
  async greet(): Promise<void> {
    this.#isFirstOnConnection = this.#server !== undefined;
    await this.beat();
  }

  /** Sends no more heartbeats. Ends the sessions under which nothing runs; the others are left to expire. */
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
      if (confirmedEnd !== undefined) this.#tellEnd({ id, lockExpiryMs, confirmedEnd });
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
    // the first heartbeat lists it, and others of this turn go with it
    void clock.afterIo().then(() => {
      if (client.isConnected && !session.isOver) void this.beat();
    });
    return session;
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = this.parts.clock.setTimer(this.intervalMs, () => void this.beat());
  }

  /** Notes what heartbeats of the backup have confirmed: also right after a block, before the event loop has turned. */
  #takeReports(): void {
    for (const report of this.parts.backup?.takeReports() ?? []) {
      this.#backupListedAgain ||= report.isListedAgain;
      // relied on what was known before the leases were frozen
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
      // the deadline first: reading it may raise the confirmed end
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
      leaseEpoch: this.#leaseEpoch,
    });
  }

  #learn(result: HeartbeatResult, sessions: readonly Session[], sent: Instant): void {
    this.#takeReports();
    // overtaken by an answer to a later heartbeat, which knew all of this
    if (this.#answeredSent !== undefined && sent.now < this.#answeredSent.now) return;
    this.#answeredSent = sent;
    // where the server does not say which one it is, each reconnect may be to another
    const mayBeOther = this.#isFirstOnConnection && result.serverId === undefined;
    this.#isFirstOnConnection = false;
    const { serverId, serverSince, version, list, liveReplicas } = result;
    const isBreak =
      this.#server !== undefined && (this.#server.serverId !== serverId || this.#server.serverSince !== serverSince);
    if (this.#server === undefined || isBreak) this.#serverMetAtMs = this.parts.clock.now();
    this.#server = { serverId, serverSince };
    this.#storeTime = { time: result.storeTime, atMs: this.parts.clock.now() };
    this.#version = version;
    this.#liveReplicas = liveReplicas;
    if (list !== undefined) {
      this.#list = list;
      this.#alive = new Set([...list].filter(([, { hasEnded }]) => !hasEnded).map(([id]) => replicaOf(id)));
    }
    // before the sessions are extended: no lease may go on by this answer
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
    const hasPresumed = this.#presumeEnded(sent);
    this.#awaitNextEnd(result);
    if (list !== undefined || hasPresumed) this.parts.listener.listChanged();
    this.parts.listener.heartbeatAnswered();
    for (const done of [...this.#waiting]) done();
  }

  #freezeLeases(): void {
    this.#leaseEpoch += 1;
    this.parts.listener.leasesFrozen();
  }

  #break(): void {
    this.#hasNoticedBreak = true;
    this.#absent.clear();
    this.#presumedEnded.clear();
    this.parts.listener.breakNoticed();
  }

  /**
   * Two answered heartbeats that did not find a session, further apart than it can live without one: from the answer to the first,
   * which may have waited for long, until the second was sent. A heartbeat that was sent before the session was known proves nothing.
   * If the list has changed meanwhile, the session may have been listed again and lost once more.
   */
  #presumeEnded(sent: Instant): boolean {
    const version = this.#version;
    let hasPresumed = false;
    for (const [id, absence] of this.#absent) {
      const { watchedMs, first } = absence;
      if (this.#list.has(id)) {
        this.#absent.delete(id);
      } else if (first?.version !== version) {
        if (sent.now >= watchedMs) absence.first = { answeredMs: this.parts.clock.now(), version };
      } else if (sent.now - first.answeredMs >= ABSENT_LIVES * lockExpiryOf(id)) {
        this.#absent.delete(id);
        this.#presumedEnded.add(id);
        hasPresumed = true;
      }
    }
    return hasPresumed;
  }

  /** Looks again at the very moment at which another session ends, unless its replica extends it. */
  #awaitNextEnd({ nextEnd, storeTime }: HeartbeatResult): void {
    this.#nextEndTimer?.cancel();
    this.#nextEndTimer = undefined;
    if (nextEnd === undefined || this.#isStopped) return;
    this.#nextEndTimer = this.parts.clock.setTimer(Math.max(nextEnd - storeTime, 0) + 1, () => void this.beat());
  }

  #tellEnd(session: { readonly id: SessionId; readonly lockExpiryMs: number; readonly confirmedEnd: number }): void {
    const { client } = this.parts;
    const send = () => client.store.endSession(session);
    // after its own life the store lists it as ended anyway
    client.inBackground({ name: undefined, kind: 'session', send }, session.lockExpiryMs);
  }
}
