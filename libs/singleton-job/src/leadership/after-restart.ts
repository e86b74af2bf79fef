import { type AcquireRequest, type HeartbeatReference, type HeartbeatResult } from '../store/lock-store.js';
import { type Clock, type Instant } from '../base/time/clock.js';
import { type BackupReport, type MainThreadState } from './heartbeat-backup.js';
import { isBefore } from './lease.js';
import { StoreClock } from './store-clock.js';
import { type Term } from './term.js';
import { type Watermarks } from './watermarks.js';

/** A lease whose lock may be lost with the data of the store. */
interface LeaseAtRisk {
  /** From now on no heartbeat extends the lease, until a request that is sent after this call has confirmed the lock. */
  freeze(): void;
  renewAfresh(): Promise<void>;
}

/** What a follower knows of a job whose lock it wants to take. */
interface JobToTake {
  readonly watermarks: Watermarks;
  /** The `lockExpiry` of the job, or of the last known holder if that is longer. */
  readonly longestExpiryMs: number;
  /** The last term of this replica, unless another replica is known to have led since. */
  readonly lastTerm: Term | undefined;
}

type Reliance = Pick<
  AcquireRequest,
  'heartbeat' | 'knownServerId' | 'knownStateCreatedAt' | 'notBefore' | 'isFirstStart'
>;

/**
 * What happens when the store restarts, fails over or loses its data. A heartbeat shows it: another server answers, or the server has not
 * noted itself beside the sessions. In the same step the store gives each session that is not marked as ended a full life, so that no
 * replica counts as dead only because the store could not be reached. Three rules prevent a second leader:
 *
 * | rule | what it does | where |
 * |---|---|---|
 * | the wait | until `serverSince` + `lockExpiry` no replica takes a lock: by then each lease from before has ended | {@link notBefore} |
 * | frozen leases | no heartbeat extends a lease until its lock is confirmed. Each leader renews at once | {@link answered}, {@link protect} |
 * | dated requests | an acquire request names the server, `serverSince` and the state that it relies on. The store refuses it as `outdated` if one of them has changed | {@link reliance} |
 *
 * Not every replica has to wait:
 *
 * | a replica | may take the lock at once, because |
 * |---|---|
 * | whose lock is lost, before the deadline of that term | no other replica can have led since ({@link knowsAll}) |
 * | that knows nothing of the job and has noticed no restart, if the store has no state of the job either | this is a first start |
 * | that has noticed no restart, if the state was created on this server | no lock can have been lost before it was created |
 *
 * The wait is over for a replica that has known the server for one `lockExpiry`, by its own clock. A list of sessions that is lost, but not
 * the server, freezes the leases and has no wait. If the store does not show
 * which server answers, each new connection may lead to another one, so it freezes the leases too.
 */
export class AfterRestart {
  #server: HeartbeatReference | undefined;
  #serverMetAtMs = 0;
  #hasNoticedRestart = false;
  /** How often the leases were frozen. */
  #freezeCount = 0;
  /** There is a new connection, and no heartbeat was answered on it. */
  #mayBeOtherServer = false;
  /** The heartbeat thread has listed a session again. */
  #threadListedAgain = false;
  readonly #leases = new Set<LeaseAtRisk>();
  /** The clock of the server that answers heartbeats. */
  readonly #storeClock: StoreClock;

  constructor(
    private readonly clock: Clock,
    private readonly onRestart: () => void,
  ) {
    this.#storeClock = new StoreClock(clock);
  }

  /** A new connection, which may be to another server. */
  connected(): void {
    this.#mayBeOtherServer = this.#server !== undefined;
  }

  /** A heartbeat that was sent at `sent` was answered. Called before the answer extends any lease. */
  answered({ serverId, serverSince, storeTime, sessions }: HeartbeatResult, sent: Instant): void {
    this.#storeClock.learn(storeTime, sent);
    const known = this.#server;
    const isRestart = known !== undefined && (known.serverId !== serverId || known.serverSince !== serverSince);
    const isHidden = this.#mayBeOtherServer && serverId === undefined;
    const isListedAgain = this.#threadListedAgain || sessions.some(({ status }) => status === 'listed-again');
    const nowMs = this.clock.now();
    if (known === undefined || isRestart) this.#serverMetAtMs = nowMs;
    this.#server = { serverId, serverSince };
    this.#mayBeOtherServer = this.#threadListedAgain = false;
    if (isRestart || isHidden || isListedAgain) {
      this.#freezeCount += 1;
      for (const lease of this.#leases) lease.freeze();
      for (const lease of this.#leases) void lease.renewAfresh();
    }
    if (!isRestart) return;
    this.#hasNoticedRestart = true;
    this.onRestart();
  }

  /** Call it when a request is sent. The result says whether its answer proves that a lock is not lost. */
  observe(): () => boolean {
    const before = this.#freezeCount;
    return () => before === this.#freezeCount;
  }

  /** Freezes and renews a lease each time that its lock may be lost, until the returned function is called. */
  protect(lease: LeaseAtRisk): () => void {
    this.#leases.add(lease);
    return () => this.#leases.delete(lease);
  }

  /** What an acquire request relies on. */
  reliance(job: JobToTake): Reliance {
    return {
      heartbeat: this.#server,
      knownServerId: job.watermarks.serverId,
      knownStateCreatedAt: job.watermarks.stateCreatedAt,
      notBefore: this.notBefore(job),
      isFirstStart: job.watermarks.isNew && !this.#hasNoticedRestart,
    };
  }

  /** Until when no replica may take the lock, by the clock of the store. 0: there is no wait. */
  notBefore(job: JobToTake): number {
    const { watermarks, longestExpiryMs } = job;
    if (this.#server?.serverId === undefined || this.knowsAll(job)) return 0;
    const { serverSince } = this.#server;
    // if the clock of the store was set back, `serverSince` is far ahead
    const isOver = this.#serverKnownForMs >= longestExpiryMs;
    const isStateNewer = (watermarks.stateCreatedAt ?? -Infinity) >= serverSince;
    return isOver || (isStateNewer && !this.#hasNoticedRestart) ? 0 : serverSince + longestExpiryMs;
  }

  /** How long no replica may take the lock: by the clock of the store or of this replica, whichever is less. 0 or less: there is no wait. */
  waitMs(job: JobToTake, storeTime = this.#storeClock.now()): number {
    return Math.min(this.notBefore(job) - storeTime, job.longestExpiryMs - this.#serverKnownForMs);
  }

  /**
   * Whether no other replica can have led since the last term of this one. That is certain if the store answered that the lock was lost,
   * the deadline has not passed, and no later living holder is known. After a release or the end of the session, another may have led.
   */
  knowsAll({ lastTerm }: Pick<JobToTake, 'lastTerm'>): boolean {
    return lastTerm?.end === 'preempted' && isBefore(this.clock, lastTerm.deadline);
  }

  /** Claims of occurrences that came due before this time may be lost with the data. By the clock of the store. */
  get claimsLostBefore(): number {
    return this.#server?.serverSince ?? 0;
  }

  /** What the heartbeat thread must know. Undefined: no heartbeat was answered yet. */
  get forThread(): Pick<MainThreadState, 'server' | 'freezeCount'> | undefined {
    return this.#server === undefined ? undefined : { server: this.#server, freezeCount: this.#freezeCount };
  }

  /** Takes a report of the heartbeat thread. Returns whether it may extend leases: not if its heartbeat is from before they were frozen. */
  takeReport({ freezeCount, isListedAgain }: BackupReport): boolean {
    this.#threadListedAgain ||= isListedAgain;
    return freezeCount === this.#freezeCount;
  }

  get #serverKnownForMs(): number {
    return this.clock.now() - this.#serverMetAtMs;
  }
}
