import { messageOf, stackOf } from '../base/errors/message-of.js';
import { ABORT_REASONS } from '../base/errors/run.errors.js';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type LeadershipGain } from '../base/events/reasons.js';
import { LogBurst } from './log-burst.js';
import { showDuration } from '../base/text/duration.js';

/** The logger that the observer writes to, for example a `Logger` of Nest. */
export interface LogSink {
  error(message: string, stack?: string): void;
  warn(message: string): void;
  log(message: string): void;
  debug(message: string): void;
}

/** The replica that the lines name. */
interface LoggedReplica {
  readonly projectName: string;
  /** `nodeId` with its random part. */
  readonly node: string;
  /** The name of the store. */
  readonly store: string;
  /** Where it is, without user and password. Undefined: not known. */
  readonly address?: string | undefined;
  /** @default false */
  readonly hasHeartbeatThread?: boolean;
}

const LOST = {
  expired: 'did not confirm the lease in time',
  preempted: 'does not show it as the leader: its record was deleted, or another holder has it',
} as const;

const dropped = (store: string) => ({
  overlap: 'a run was in flight',
  late: 'the event loop was blocked, and a newer tick was due',
  'lease-unconfirmed': `the clocks disagreed, and ${store} has not confirmed the lease since`,
});

const missed = (store: string) => ({
  late: 'not started within the misfire grace, or a newer one was due',
  'data-lost': `${store} restarted or lost its data. Some of them may have run before: check that before you repeat them`,
  'schedule-changed': 'the schedule was changed after them',
});

/** Leaderships of one turn have so many lines. */
const MOST_LINES = 10;
/** A lease that is lost later than this after the event loop was blocked has another cause. */
const BLOCK_COUNTS_MS = 1_000;

/** Writes the lines for an operator: one line for each fact, once. */
export class LoggingObserver implements JobObserver {
  readonly #brokenAt = new Set<keyof JobEvents>();
  readonly #gained = this.#burst((jobs) => `also became LEADER of ${jobs}`, MOST_LINES);
  readonly #released = this.#burst((jobs) => `also released leadership of ${jobs}`, MOST_LINES);
  readonly #paused = this.#burst((jobs) => `paused on all replicas: ${jobs}; start one with resume()`);
  readonly #resumed = this.#burst((jobs) => `no longer paused on all replicas: ${jobs}`);
  readonly #follows = new Map<string, LogBurst>();
  #hasFollowed = false;
  /** How long the event loop was blocked, and when that ended, monotonic. */
  #block = { ms: 0, endedAt: -Infinity };

  constructor(
    private readonly replica: LoggedReplica,
    private readonly sink: LogSink,
    /** Monotonic. */
    private readonly now = () => performance.now(),
  ) {}

  leadershipGained({ job, fencingToken, because, after }: JobEvents['leadershipGained']): void {
    const isOwn = after === this.replica.node;
    const expired = 'it leads again after its own lease expired';
    const why = isOwn && because === 'lease-ended' ? expired : whyGained(because, isOwn ? 'this replica' : after);
    const line = `${this.#name(job)} became LEADER (fencing token ${fencingToken}, node ${this.replica.node}): ${why}`;
    this.sink[this.#gained.add(job) ? 'log' : 'debug'](line);
  }

  leadershipLost({ job, fencingToken, reason }: JobEvents['leadershipLost']): void {
    const { ms, endedAt } = this.#block;
    const { store } = this.replica;
    const isBlocked = reason === 'expired' && this.now() - endedAt < BLOCK_COUNTS_MS;
    const why = `${store} ${LOST[reason]}${isBlocked ? `, after the event loop was blocked for ${showDuration(ms)}` : ''}`;
    const next =
      reason === 'preempted'
        ? 'The holder leads, or any replica'
        : isBlocked
          ? 'Any replica'
          : `A replica that reaches ${store}`;
    this.sink.warn(
      `${this.#name(job)} lost leadership (fencing token ${fencingToken}): ${why}. ` +
        `A run in progress is aborted. ${next} takes over`,
    );
  }

  leadershipReleased({ job, reason, confirmed, runInFlight }: JobEvents['leadershipReleased']): void {
    const why = `(${reason}, node ${this.replica.node})`;
    const calls = reason === 'failed-calls' ? ': 3 calls in a row failed' : '';
    if (confirmed) {
      this.sink[this.#released.add(job) ? 'log' : 'debug'](`${this.#name(job)} released leadership ${why}${calls}`);
    } else if (runInFlight) {
      this.sink.warn(
        `${this.#name(job)} could not release leadership ${why}: a run ignored its abort and is still running. ` +
          'Another replica takes over when the lease of this replica ends. Pass run.signal on to what the run waits for',
      );
    } else {
      const next = 'Another replica takes over when the lease of this replica ends';
      this.sink.warn(
        `${this.#name(job)} could not release leadership ${why}: ${this.replica.store} did not confirm it. ${next}`,
      );
    }
  }

  /** Later changes are debug lines: the new leader has a line of its own. */
  leaderChanged({ job, leader }: JobEvents['leaderChanged']): void {
    const write = (jobs: string): void => {
      this.#follows.delete(leader);
      const line = `${this.#name()} follows ${leader} for ${jobs}; takes over when its lease ends`;
      this.sink[this.#hasFollowed ? 'debug' : 'log'](line);
      setImmediate(() => (this.#hasFollowed = true));
    };
    const burst = this.#follows.get(leader) ?? new LogBurst(write);
    this.#follows.set(leader, burst);
    burst.add(job);
  }

  jobPaused({ job, pausedAt }: JobEvents['jobPaused']): void {
    this.#paused.add(`${job} since ${pausedAt.toISOString()}`);
  }

  jobResumed({ job, pausedAt, reason }: JobEvents['jobResumed']): void {
    if (reason === 'resumed') this.#resumed.add(job);
    else {
      this.sink.warn(
        `${this.#name(job)} the pause since ${pausedAt.toISOString()} was lost with the data of ${this.replica.store}; the job runs ` +
          `again. Call pause('${job}') again if it must not`,
      );
    }
  }

  runFailed({ job, durationMs, error }: JobEvents['runFailed']): void {
    this.sink.error(`${this.#name(job)} failed after ${showDuration(durationMs)}: ${messageOf(error)}`, stackOf(error));
  }

  runCancelled({ job, kind, durationMs, code }: JobEvents['runCancelled']): void {
    const line = `${this.#name(job)} was cancelled after ${showDuration(durationMs)} (${code}): ${ABORT_REASONS[code]}`;
    // a lost lease has its own line, superseding is what the job asked for, and every @WhileLeader run ends so
    const isExpected = code === 'LEASE_LOST' || code === 'SUPERSEDED' || kind === 'while-leader';
    if (isExpected) this.sink.debug(line);
    else this.sink.warn(line);
  }

  runSlow({ job, elapsedMs, warnAfterMs, abortCode }: JobEvents['runSlow']): void {
    const age = `${this.#name(job)} has been running for ${showDuration(elapsedMs)}`;
    const next = 'No other run of the job starts here until it ends';
    if (abortCode === undefined) {
      this.sink.warn(
        `${age}, longer than its warnAfter (${showDuration(warnAfterMs)}), and its lease is renewed. ${next}. Set a timeout, ` +
          'and pass run.signal on to what the run waits for. If such runs are normal, raise warnAfter',
      );
    } else {
      const fix = 'Pass run.signal on to what the run waits for';
      this.sink.warn(`${age}, although its signal was aborted (${abortCode}). ${next}. ${fix}`);
    }
  }

  shutdownDelayed({ job, elapsedMs, abortInMs }: JobEvents['shutdownDelayed']): void {
    const next = abortInMs > 0 ? `is aborted in ${showDuration(abortInMs)}` : 'goes on although its signal was aborted';
    this.sink.log(
      `${this.#name(job)} delays the stop: its run has taken ${showDuration(elapsedMs)} so far, and ${next}`,
    );
  }

  tickDropped({ job, kind, reason, scheduledAt, count }: JobEvents['tickDropped']): void {
    const ticks = count === 1 ? 'the tick' : `${count} ticks up to that`;
    const line = `${this.#name(job)} dropped ${ticks} of ${scheduledAt.toISOString()} (${reason}): ${dropped(this.replica.store)[reason]}`;
    // a grid has another tick in a moment; an occurrence of a cron job may be the only one of its day
    if (kind === 'cron') this.sink.warn(line);
    else this.sink.debug(line);
  }

  runInterrupted({ job, startedAt, by }: JobEvents['runInterrupted']): void {
    this.sink.warn(
      `${this.#name(job)} was interrupted in its run of ${startedAt.toISOString()}: ${by}, which led it, has ended or lost its lease. ` +
        'A part of the work may be done',
    );
  }

  occurrencesMissed({ job, reason, from, to, count }: JobEvents['occurrencesMissed']): void {
    this.sink.warn(
      `${this.#name(job)} missed ${count} occurrence${count === 1 ? '' : 's'} after ${from.toISOString()} ` +
        `up to ${to.toISOString()} (${reason}): ${missed(this.replica.store)[reason]}`,
    );
  }

  eventLoopBlocked({ blockedMs, jobs }: JobEvents['eventLoopBlocked']): void {
    this.#block = { ms: blockedMs, endedAt: this.now() };
    const who = jobs.length === 0 ? 'no job was running' : `while these ran: ${jobs.join(', ')}`;
    const thread = this.replica.hasHeartbeatThread === true ? '' : 'heartbeatThread or ';
    this.sink.warn(
      `the event loop of ${this.replica.node} was blocked for ${showDuration(blockedMs)}, ${who}. Move the computation ` +
        `into a worker thread, or keep leases through such a block with ${thread}a longer lockExpiry`,
    );
  }

  storeUnreachable({ error, outageMs }: JobEvents['storeUnreachable']): void {
    const state = outageMs === 0 ? 'is unavailable' : `has been unavailable for ${showDuration(outageMs)}`;
    const line = `${this.#name()} ${this.replica.store} ${state}, and every job and lock needs it`;
    this.sink.error(`${line} (${messageOf(error)}); ${this.#retrying()}`);
  }

  storeRecovered({ outageMs, hasRestarted }: JobEvents['storeRecovered']): void {
    const restarted =
      '. It restarted, or is another server: the leader of a job continues, or another replica takes over after the grace period';
    const line = `${this.#name()} ${this.replica.store} is available again after ${showDuration(outageMs)}`;
    this.sink.log(`${line}${hasRestarted === true ? restarted : ''}`);
  }

  requestDenied({ job, error, deniedMs }: JobEvents['requestDenied']): void {
    const [still, since] = deniedMs === 0 ? ['', ''] : ['still ', `, after ${showDuration(deniedMs)}`];
    const what =
      job === undefined
        ? `${this.replica.store} ${still}refuses a request that every job needs`
        : `${still}cannot be ${isLock(job) ? 'locked' : 'led'}`;
    this.sink.error(`${this.#name(job)} ${what}${since} (${messageOf(error)}); ${this.#retrying(job)}`);
  }

  warning({ message, job, error }: JobEvents['warning']): void {
    const line = `${this.#name(job)} ${message}`;
    if (error !== undefined) this.sink.error(line, stackOf(error));
    else this.sink.warn(line);
  }

  observerFailed({ event, error }: JobEvents['observerFailed']): void {
    const line = `an observer failed at '${event}' (${messageOf(error)}). Jobs go on, and its next failures are debug lines`;
    // one that is broken fails again at every run
    const isNew = !this.#brokenAt.has(event);
    this.#brokenAt.add(event);
    if (isNew) this.sink.warn(line);
    else this.sink.debug(line);
  }

  #burst(describe: (jobs: string) => string, mostLines?: number): LogBurst {
    return new LogBurst((jobs) => {
      this.sink.log(`${this.#name()} ${describe(jobs)}`);
    }, mostLines);
  }

  /** The end of a line. A line about one job is about its keys, not about the server. */
  #retrying(job?: string): string {
    const { address } = this.replica;
    return job === undefined && address !== undefined ? `retrying ${address}` : 'retrying';
  }

  /** The start of a line: the job, or the project for a line about all jobs. */
  #name(job?: string): string {
    return job === undefined ? `[${this.replica.projectName}]` : `[${this.replica.projectName}:${job}]`;
  }
}

function whyGained(because: LeadershipGain, after: string | undefined): string {
  const leader = after ?? 'the last leader';
  switch (because) {
    case 'first':
      return 'first leader';
    case 'released':
      return `${leader} released it`;
    case 'lease-ended':
      return `the lease of ${leader} ended`;
    case 'free':
      return `the job was free${after === undefined ? '' : `, the last known leader was ${after}`}`;
  }
}

/** Of `LockService`; no job has a slash in its name. */
function isLock(name: string): boolean {
  return name.startsWith('lock/');
}
