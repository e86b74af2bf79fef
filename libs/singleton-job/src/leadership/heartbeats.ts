import { type HeartbeatRequest, type HeartbeatResult } from '../store/lock-store.js';
import { instant, type Instant, type Timer } from '../base/time/clock.js';
import { Condition } from '../base/time/condition.js';
import { type AfterRestart } from './after-restart.js';
import { type HeartbeatBackup } from './heartbeat-backup.js';
import { type ReplicaContext } from './replica.js';
import { type SessionList } from './session-list.js';
import { type Session } from './session.js';
import { type Sessions } from './sessions.js';

/** How long {@link Heartbeats.refresh} waits for an answer. */
const REFRESH_MS = 250;

interface HeartbeatsParts {
  readonly sessions: Sessions;
  readonly list: SessionList;
  readonly restarts: AfterRestart;
  /** The heartbeat interval of the module. A shorter `lockExpiry` may need a shorter one. */
  readonly intervalMs: number;
  /** The heartbeat thread, which sends heartbeats while this one is blocked. */
  readonly backup: HeartbeatBackup | undefined;
  /** Called with each answer, after everything it shows was taken over. */
  readonly onAnswer: (changed: { readonly list: boolean; readonly pauses: boolean }) => void;
}

/** One heartbeat keeps all sessions of this replica alive, and shows which sessions of other replicas have ended. */
export class Heartbeats {
  #timer: Timer | undefined;
  #nextEndTimer: Timer | undefined;
  #failures = 0;
  /** A heartbeat for new sessions is sent at the end of this turn of the event loop. */
  #isScheduled = false;
  /** Heartbeats without an answer. */
  #underWay = 0;
  /** When the newest heartbeat was sent, answered or not. */
  #sentMs = -Infinity;
  /** When the newest heartbeat was sent that was answered. */
  #answered: Instant | undefined;
  #pausesVersion: number | undefined;
  readonly #answer: Condition;

  constructor(
    private readonly context: ReplicaContext,
    private readonly parts: HeartbeatsParts,
  ) {
    this.#answer = new Condition(context.clock);
  }

  /** How long ago the newest answered heartbeat was sent. */
  get unansweredForMs(): number {
    return this.#answered === undefined ? 0 : this.context.clock.now() - this.#answered.now;
  }

  /** How often heartbeats are sent. A session outlives two lost heartbeats. */
  get intervalMs(): number {
    const shortestMs = Math.min(...this.parts.sessions.all.map(({ lockExpiryMs }) => lockExpiryMs));
    const { intervalMs } = this.parts;
    return 3 * intervalMs > shortestMs ? shortestMs / 4 : intervalMs;
  }

  /** Resolves when a heartbeat is answered, or `signal` aborts. */
  async untilAnswered(signal: AbortSignal): Promise<void> {
    await this.#answer.wait(signal);
  }

  /**
   * Sends a heartbeat, unless one is under way. Resolves when any heartbeat is answered, after 0.25 s, or when `signal` aborts: to
   * whether one was answered. A store need not limit how long a single answer takes.
   */
  refresh(signal: AbortSignal): Promise<boolean> {
    const answer = this.#answer.wait(signal, REFRESH_MS);
    if (this.#underWay === 0) void this.send();
    return answer;
  }

  /** Sends the first heartbeat on a new connection. */
  greet(): Promise<void> {
    this.parts.restarts.connected();
    return this.send();
  }

  /** Sessions have begun or ended. One heartbeat lists all sessions that begin in this turn of the event loop. */
  sessionsChanged(): void {
    this.#updateThread();
    const { clock, client } = this.context;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void clock.afterIo().then(() => {
      this.#isScheduled = false;
      const hasNew = this.parts.sessions.all.some(({ confirmedEnd }) => confirmedEnd === undefined);
      if (client.isConnected && hasNew) void this.send();
    });
  }

  /** Sends one heartbeat for all sessions, and the next one after an interval. Resolves when it is answered, with a result or an error. */
  async send(): Promise<void> {
    const { client, clock, closing } = this.context;
    const sessions = this.parts.sessions.all;
    if (closing.aborted || sessions.length === 0) return;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(this.intervalMs, () => void this.send());
    this.takeReports();
    const request: HeartbeatRequest = {
      sessions: sessions.map(({ id, lockExpiryMs, confirmedEnd }) => ({ id, lockExpiryMs, confirmedEnd })),
      knownList: this.parts.list.known,
    };
    const sent = instant(clock);
    this.#sentMs = sent.now;
    this.#updateThread();
    this.#underWay += 1;
    try {
      const result = await client.store.heartbeat(request);
      this.#failures = 0;
      this.#learn(result, sessions, sent);
      client.heartbeatAnswered();
    } catch (error: unknown) {
      this.#failures += 1;
      client.heartbeatFailed(error, this.#failures);
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Applies what the heartbeat thread has confirmed. It works also right after a block, before the event loop has turned, so it is called
   * before each decision that goes by a deadline.
   */
  takeReports(): void {
    const { backup, restarts, sessions } = this.parts;
    for (const report of backup?.takeReports() ?? []) {
      if (!restarts.takeReport(report)) continue;
      for (const { id, end } of report.extended)
        sessions.all.find((session) => session.id === id)?.raise(report.sent, end, report.answeredMs);
    }
  }

  stop(): void {
    this.#timer?.cancel();
    this.#nextEndTimer?.cancel();
  }

  #learn(result: HeartbeatResult, sessions: readonly Session[], sent: Instant): void {
    const { list, restarts, onAnswer } = this.parts;
    this.takeReports();
    // a later heartbeat was answered first: this answer is out of date
    if (this.#answered !== undefined && sent.now < this.#answered.now) return;
    this.#answered = sent;
    const changed = {
      list: list.apply(result),
      pauses: this.#pausesVersion !== undefined && this.#pausesVersion !== result.pausesVersion,
    };
    this.#pausesVersion = result.pausesVersion;
    // before the sessions are extended: an answer that shows a restart must not extend a lease
    restarts.answered(result, sent);
    for (const [index, session] of sessions.entries()) {
      const answer = result.sessions[index];
      if (answer === undefined) continue;
      if (answer.status === 'ended') session.end();
      else session.extend(sent, answer.end);
    }
    this.#updateThread();
    this.#awaitNextEnd(result);
    onAnswer(changed);
    this.#answer.notify();
    // the list is wrong, so it is requested as a whole
    if (list.known === undefined && !result.isWholeList) void this.send();
  }

  #updateThread(): void {
    const { backup, list, restarts, sessions } = this.parts;
    const { forThread } = restarts;
    if (backup === undefined || forThread === undefined || this.#answered === undefined) return;
    backup.update({
      ...forThread,
      sentMs: this.#sentMs,
      intervalMs: this.intervalMs,
      sessions: sessions.all.flatMap(({ id, lockExpiryMs, confirmedEnd, deadline }) =>
        confirmedEnd === undefined || deadline === undefined ? [] : [{ id, lockExpiryMs, confirmedEnd, deadline }],
      ),
      answeredSentMs: this.#answered.now,
      knownList: list.known,
    });
  }

  /**
   * Sends a heartbeat at the moment at which the next session of another replica ends, unless that replica extends it. The store names only
   * sessions with the `lockExpiry` of a session of this replica.
   */
  #awaitNextEnd({ nextEnd, storeTime }: HeartbeatResult): void {
    this.#nextEndTimer?.cancel();
    this.#nextEndTimer = undefined;
    if (nextEnd === undefined || this.context.closing.aborted) return;
    const delayMs = Math.max(nextEnd - storeTime, 0) + 1;
    this.#nextEndTimer = this.context.clock.setTimer(delayMs, () => void this.send());
  }
}
