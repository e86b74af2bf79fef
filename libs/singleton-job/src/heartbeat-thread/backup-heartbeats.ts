import { type LockStoreError } from '../base/errors/lock-store.error.js';
import { type BackupReport, type KeptSession, type MainThreadState } from '../leadership/heartbeat-backup.js';
import { deadlineOf, isBefore } from '../leadership/lease.js';
import { type HeartbeatRequest, type HeartbeatResult, type LockStore, type SessionId } from '../store/lock-store.js';
import { type Clock, type Instant, instant, type Timer } from '../base/time/clock.js';

/** The main thread is late when its next heartbeat is overdue by a quarter of an interval. */
const LATE_AFTER_INTERVALS = 1.25;
const CHECKS_PER_INTERVAL = 4;
/** A main thread that has been silent for longer counts as dead. Locks do not live much longer than this without it. */
const LONGEST_SILENCE_MS = 20_000;
/** A connection that is gone for longer, while that of the main thread works, counts as broken. */
const RECONNECT_LIMIT_MS = 10_000;

interface BackupHeartbeatsParts {
  readonly store: LockStore;
  /** It has the monotonic time of the main thread. */
  readonly clock: Clock;
  readonly report: (report: BackupReport) => void;
  /** Called once, when this thread has no connection although the main thread has one. */
  readonly reportUnreachable: (error: LockStoreError) => void;
}

/**
 * Keeps the sessions of a process alive while its main thread is blocked. It sends a heartbeat when that of the main thread is overdue,
 * and reports which sessions it extended. While the main thread is on time, it sends nothing.
 *
 * The main thread decides. This thread extends only sessions that the main thread could have extended itself. It never extends a session
 * whose deadline has passed on either clock, for example after a suspended process or host.
 */
export class BackupHeartbeats {
  #main: MainThreadState | undefined;
  #sessions: ReadonlyMap<SessionId, KeptSession> = new Map();
  /** Sessions that the store answered as ended. */
  readonly #ended = new Set<SessionId>();
  /** The answers have what has changed since then, so that they stay small. */
  #knownList: HeartbeatRequest['knownList'];
  /** When an answer last showed a restart of the store or a lost list of sessions: locks may be lost. */
  #restartSeenAtMs = -Infinity;
  #isUnderWay = false;
  #timer: Timer | undefined;
  /** Since when there is no connection, and why. */
  #outage: { readonly sinceMs: number; readonly error: LockStoreError } | undefined;
  #isUnreachableReported = false;

  constructor(private readonly parts: BackupHeartbeatsParts) {}

  /** Takes over the state of the main thread. */
  receive(state: MainThreadState): void {
    const isFirst = this.#main === undefined;
    this.#main = state;
    this.#knownList = state.knownList ?? this.#knownList;
    // a report under way may have extended a session further than the main thread knows
    const known = state.sessions.map((session) => {
      const own = this.#sessions.get(session.id);
      return own !== undefined && own.deadline.now > session.deadline.now ? own : session;
    });
    this.#sessions = new Map(known.map((session) => [session.id, session]));
    for (const id of this.#ended) if (!this.#sessions.has(id)) this.#ended.delete(id);
    if (isFirst) this.#open();
    this.#checkConnection(state);
    this.#scheduleCheck();
  }

  /**
   * The process ends, and nothing of it runs any more: ends its sessions in the store, and publishes that. So other replicas need not wait
   * for the ends of the sessions, nor for their next heartbeat. Never rejects.
   */
  async endSessions(): Promise<void> {
    const { store } = this.parts;
    const sessions = [...this.#sessions.values()];
    this.#timer?.cancel();
    this.#sessions = new Map();
    try {
      await Promise.all(sessions.map((session) => store.endSession(session)));
      if (sessions.length > 0) await store.publish({ kind: 'sessions-ended', sessions: sessions.map(({ id }) => id) });
    } catch {
      // the store is away: the sessions end by themselves
    }
  }

  close(): Promise<void> {
    this.#timer?.cancel();
    return this.parts.store.close();
  }

  #open(): void {
    const { store, clock } = this.parts;
    store.addListener({
      connected: () => (this.#outage = undefined),
      disconnected: (error) => (this.#outage = { sinceMs: this.#outage?.sinceMs ?? clock.now(), error }),
    });
    store.open();
  }

  /** An outage of both threads is reported by the main thread. */
  #checkConnection({ answeredSentMs }: MainThreadState): void {
    if (this.#outage === undefined || this.#isUnreachableReported) return;
    if (answeredSentMs - this.#outage.sinceMs < RECONNECT_LIMIT_MS) return;
    this.#isUnreachableReported = true;
    this.parts.reportUnreachable(this.#outage.error);
  }

  #scheduleCheck(): void {
    const { intervalMs = Infinity } = this.#main ?? {};
    this.#timer?.cancel();
    if (this.#sessions.size === 0) return;
    this.#timer = this.parts.clock.setTimer(intervalMs / CHECKS_PER_INTERVAL, () => {
      if (this.#isMainThreadLate()) void this.#sendHeartbeat();
      this.#scheduleCheck();
    });
  }

  #isMainThreadLate(): boolean {
    const { sentMs = 0, intervalMs = Infinity } = this.#main ?? {};
    const silentMs = this.parts.clock.now() - sentMs;
    return silentMs >= LATE_AFTER_INTERVALS * intervalMs && silentMs < LONGEST_SILENCE_MS;
  }

  async #sendHeartbeat(): Promise<void> {
    const { store, clock } = this.parts;
    const main = this.#main;
    const sessions = [...this.#sessions.values()].filter((session) => this.#isValid(session));
    // without a server id this may be another server than that of the main thread, without the locks
    if (main?.server.serverId === undefined || sessions.length === 0) return;
    // a second heartbeat would only wait behind the first one on the connection
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    const sent = instant(clock);
    try {
      this.#learn(await store.heartbeat({ sessions, knownList: this.#knownList }), { main, sessions, sent });
    } catch {
      // the next check tries again, and the main thread reports outages
    } finally {
      this.#isUnderWay = false;
    }
  }

  #learn(
    result: HeartbeatResult,
    {
      main,
      sessions,
      sent,
    }: { readonly main: MainThreadState; readonly sessions: readonly KeptSession[]; readonly sent: Instant },
  ): void {
    const { serverId, serverSince, version } = result;
    const answeredMs = this.parts.clock.now();
    const answers = sessions.map(({ id }, index) => ({ id, answer: result.sessions[index] }));
    this.#knownList = { version, serverSince };
    for (const { id, answer } of answers) if (answer?.status === 'ended') this.#ended.add(id);
    const isListedAgain = answers.some(({ answer }) => answer?.status === 'listed-again');
    const isOther = serverId !== main.server.serverId || serverSince !== main.server.serverSince;
    if (isListedAgain || isOther) this.#restartSeenAtMs = answeredMs;
    const extended = this.#mayExtend(main) ? answers.flatMap(({ id, answer }) => this.#extend(id, sent, answer)) : [];
    if (extended.length === 0 && !isListedAgain) return;
    this.parts.report({ freezeCount: main.freezeCount, sent, answeredMs, extended, isListedAgain });
  }

  /** Whether the main thread knows of every answer that showed that locks may be lost. */
  #mayExtend({ answeredSentMs }: MainThreadState): boolean {
    return answeredSentMs > this.#restartSeenAtMs;
  }

  #extend(id: SessionId, sent: Instant, answer: HeartbeatResult['sessions'][number] | undefined) {
    const session = this.#sessions.get(id);
    if (session === undefined || answer?.status !== 'extended' || !this.#isValid(session)) return [];
    const { end } = answer;
    const kept = { ...session, confirmedEnd: end, deadline: deadlineOf(sent, session.lockExpiryMs) };
    this.#sessions = new Map(this.#sessions).set(id, kept);
    return [{ id, end }];
  }

  #isValid({ id, deadline }: KeptSession): boolean {
    return !this.#ended.has(id) && isBefore(this.parts.clock, deadline);
  }
}
