import { describeError, messageOf, stackOf } from '../base/errors/message-of.js';
import { ABORT_REASONS } from '../base/errors/run.errors.js';
import { type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { showDuration } from '../base/text/duration.js';
import { Failures } from './failures.js';
import { LogBurst } from './log-burst.js';

/** The logger that the log writes to, for example a `Logger` of Nest. */
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
  /** @default none is */
  readonly isInThisProcess?: ((replica: string) => boolean) | undefined;
  /** @default false */
  readonly hasHeartbeatThread?: boolean;
}

/** Leaderships of one turn have so many lines. */
const MAX_LINES = 10;
const NEXT_LEADER = 'Another replica takes over when the lease of this replica ends';
const PASS_SIGNAL = 'Pass run.signal on to what the run waits for';

/** Writes the lines for an operator: one line for each fact, once. */
export function operatorLog(replica: LoggedReplica, sink: LogSink): JobObserver {
  const { projectName, node, store, address, isInThisProcess = () => false, hasHeartbeatThread = false } = replica;

  // a line begins with the job, or with the project if it is about all jobs
  const named = (text: string, job?: string): string =>
    `[${job === undefined ? projectName : `${projectName}:${job}`}] ${text}`;
  const line =
    (level: 'warn' | 'log' | 'debug') =>
    (text: string, job?: string): void => {
      sink[level](named(text, job));
    };
  const [warn, log, debug] = [line('warn'), line('log'), line('debug')];
  /** A line about one job is about its keys, not about the server. */
  const retrying = (job?: string): string => (job === undefined && address ? `retrying ${address}` : 'retrying');
  const burst = (describe: (jobs: string) => string, maxLines?: number): LogBurst =>
    new LogBurst((jobs) => {
      log(describe(jobs));
    }, maxLines);

  const gained = burst((jobs) => `also became LEADER of ${jobs}`, MAX_LINES);
  const released = burst((jobs) => `also released leadership of ${jobs}`, MAX_LINES);
  const paused = burst((jobs) => `paused on all replicas: ${jobs}; start one with resume()`);
  const resumed = burst((jobs) => `no longer paused on all replicas: ${jobs}`);
  const followed = new Map<string, LogBurst>();
  let hasFollowed = false;
  /** The pause of all jobs that the last line about it has begun. */
  let pauseOfAll: { readonly text: string; readonly since: number } | undefined;
  const failures = new Failures();
  const brokenAt = new Set<keyof JobEvents>();

  return {
    leadershipGained: (event) => {
      const { job, fencingToken } = event;
      const write = gained.add(job) ? log : debug;
      write(`became LEADER (fencing token ${fencingToken}, node ${node}): ${whyGained(event, node)}`, job);
    },

    leadershipLost: ({ job, fencingToken, reason }) => {
      const why = {
        expired: `${store} did not confirm the lease in time. A run in progress is aborted. A replica that reaches ${store}`,
        preempted:
          `${store} does not show it as the leader: its record was deleted, or another holder has it. A run in progress is aborted. ` +
          'The holder leads, or any replica',
      };
      warn(`lost leadership (fencing token ${fencingToken}): ${why[reason]} takes over`, job);
    },

    leadershipReleased: ({ job, reason, confirmed, runInFlight }) => {
      const why = `(${reason}, node ${node})`;
      if (confirmed) {
        const calls = reason === 'failed-calls' ? ': 3 calls in a row failed' : '';
        const write = released.add(job) ? log : debug;
        write(`released leadership ${why}${calls}`, job);
        return;
      }
      const cause = runInFlight
        ? `a run ignored its abort and is still running. ${NEXT_LEADER}. ${PASS_SIGNAL}`
        : `${store} did not confirm it. ${NEXT_LEADER}`;
      warn(`could not release leadership ${why}: ${cause}`, job);
    },

    leaderChanged: ({ job, leader }) => {
      const write = (jobs: string): void => {
        followed.delete(leader);
        // later changes are details: the new leader has a line of its own
        const cause = isInThisProcess(leader) ? '. It is in this process: close an earlier application' : '';
        (hasFollowed ? debug : log)(`follows ${leader} for ${jobs}; takes over when its lease ends${cause}`);
        setImmediate(() => (hasFollowed = true));
      };
      const jobs = followed.get(leader) ?? new LogBurst(write);
      followed.set(leader, jobs);
      jobs.add(job);
    },

    jobPaused: (event) => {
      const { job, scope, pausedAt, pauseReason } = event;
      const reason = pauseReason === undefined ? '' : `: ${pauseReason}`;
      if (scope === 'job') {
        paused.add(`${job} ${timesOf(event)}${reason}`);
        return;
      }
      const text = `paused (all)${reason}, ${timesOf(event)}; no replica leads a job. End it by resumeAll()`;
      if (text !== pauseOfAll?.text) log(text);
      pauseOfAll = { text, since: pausedAt.getTime() };
    },

    jobResumed: ({ job, scope, pausedAt, reason }) => {
      const lost = `the pause since ${pausedAt.toISOString()} was lost with the data of ${store}`;
      if (scope === 'job') {
        if (reason !== 'data-lost') resumed.add(job);
        else warn(`${lost}; the job runs again. Call pause('${job}') again if it must not`, job);
        return;
      }
      // each job tells of it, perhaps after another job has told of the next one
      if (pauseOfAll?.since !== pausedAt.getTime()) return;
      pauseOfAll = undefined;
      if (reason !== 'data-lost') log(`no longer paused (all): ${reason}`);
      else warn(`${lost}; all jobs run again. Call pauseAll() again if they must not`);
    },

    runFailed: (event) => {
      const { job, durationMs, error } = event;
      const message = describeError(error);
      const line = failures.failed(event, message);
      if (line === undefined) return;
      const text = `failed after ${showDuration(durationMs)}${line.times}: ${message}`;
      sink.error(named(text, job), line.hasStack ? stackOf(error) : undefined);
    },

    runSucceeded: (event) => {
      const { job, durationMs, abortCode } = event;
      if (abortCode !== 'TIMEOUT') {
        const recovered = failures.succeeded(event);
        if (recovered !== undefined) log(recovered, job);
        return;
      }
      const line = failures.failed(event, 'succeeded too late');
      if (line === undefined) return;
      const why = `its signal was aborted (TIMEOUT) before. ${PASS_SIGNAL}, or raise its timeout: a number means milliseconds`;
      warn(`succeeded after ${showDuration(durationMs)}${line.times}, and ${why}`, job);
    },

    runCancelled: (event) => {
      const { job, kind, durationMs, code } = event;
      // a lost lease has its own line, superseding is what the job asked for, and every @WhileLeader run ends so
      const isExpected = code === 'LEASE_LOST' || code === 'SUPERSEDED' || kind === 'while-leader';
      const write = isExpected ? debug : warn;
      // a time-out may come at each tick
      const times = code === 'TIMEOUT' ? failures.failed(event, 'was cancelled')?.times : '';
      if (times === undefined) return;
      write(`was cancelled after ${showDuration(durationMs)}${times} (${code}): ${ABORT_REASONS[code]}`, job);
    },

    runSlow: ({ job, elapsedMs, warnAfterMs, abortCode }) => {
      const next = 'No other run of the job starts here until it ends';
      const why =
        abortCode === undefined
          ? `longer than its warnAfter (${showDuration(warnAfterMs)}), and its lease is renewed. ${next}. Set a timeout, ` +
            'and pass run.signal on to what the run waits for. If such runs are normal, raise warnAfter'
          : `although its signal was aborted (${abortCode}). ${next}. ${PASS_SIGNAL}`;
      warn(`has been running for ${showDuration(elapsedMs)}, ${why}`, job);
    },

    shutdownDelayed: ({ job, elapsedMs, abortInMs }) => {
      const next =
        abortInMs > 0 ? `is aborted in ${showDuration(abortInMs)}` : 'goes on although its signal was aborted';
      const itself = 'If it awaits app.close() itself, the run and the stop wait for each other';
      log(`delays the stop: its run has taken ${showDuration(elapsedMs)} so far, and ${next}. ${itself}`, job);
    },

    tickDropped: ({ job, kind, reason, scheduledAt, count }) => {
      const why = {
        overlap: 'a run was in flight',
        late: 'the event loop was blocked, and a newer tick was due',
        'lease-unconfirmed': `the clocks disagreed, and ${store} has not confirmed the lease since`,
      };
      // a grid has another tick in a moment; an occurrence of a cron job may be the only one of its day
      const write = kind === 'cron' ? warn : debug;
      const ticks = count === 1 ? 'the tick' : `${count} ticks up to that`;
      write(`dropped ${ticks} of ${scheduledAt.toISOString()} (${reason}): ${why[reason]}`, job);
    },

    occurrenceSkipped: ({ job, scheduledAt }) => {
      debug(`skipped its occurrence of ${scheduledAt.toISOString()}: its option only left it out`, job);
    },

    runInterrupted: ({ job, startedAt, by, occurrence }) => {
      const why = `${by}, which led it, has ended or lost its lease. A part of the work may be done`;
      warn(`was interrupted in its run of ${(occurrence ?? startedAt).toISOString()}: ${why}`, job);
    },

    occurrencesMissed: ({ job, reason, from, to, count }) => {
      const why = {
        late: 'not started within the misfire grace, or a newer one was due',
        'data-lost': `${store} restarted or lost its data. Some of them may have run before: check that before you repeat them`,
        'schedule-changed': 'the schedule was changed after them',
      };
      const window = `after ${from.toISOString()} up to ${to.toISOString()}`;
      warn(`missed ${count} occurrence${count === 1 ? '' : 's'} ${window} (${reason}): ${why[reason]}`, job);
    },

    eventLoopBlocked: ({ blockedMs, cpuMs, jobs }) => {
      const who = jobs.length === 0 ? 'no job was running' : `while these ran: ${jobs.join(', ')}`;
      if (cpuMs < blockedMs / 10) {
        const why = `the process or its host was suspended, or a call such as execSync() waited`;
        sink.warn(`${node} stood still for ${showDuration(blockedMs)} and used no CPU, ${who}: ${why}`);
        return;
      }
      sink.warn(
        `the event loop of ${node} was blocked for ${showDuration(blockedMs)}, ${who}. Move the computation into a worker thread, or ` +
          `keep leases through such a block with ${hasHeartbeatThread ? '' : 'heartbeatThread, for up to 20 s, or '}a longer lockExpiry`,
      );
    },

    storeUnreachable: ({ error, outageMs }) => {
      const state = outageMs === 0 ? 'is unavailable' : `has been unavailable for ${showDuration(outageMs)}`;
      const why = `every job and lock needs it (${messageOf(error)})`;
      sink.error(named(`${store} ${state}, and ${why}; ${retrying()}`));
    },

    storeRecovered: ({ outageMs, hasRestarted }) => {
      const restarted =
        '. It restarted, or is another server: the leader of a job continues, or another replica takes over after the grace period';
      log(`${store} is available again after ${showDuration(outageMs)}${hasRestarted === true ? restarted : ''}`);
    },

    requestDenied: ({ job, error, deniedMs }) => {
      const [still, since] = deniedMs === 0 ? ['', ''] : ['still ', `, after ${showDuration(deniedMs)}`];
      const what =
        job === undefined
          ? `${store} ${still}refuses a request that every job needs`
          : // of LockService: no job has a slash in its name
            `${still}cannot be ${job.startsWith('lock/') ? 'locked' : 'led'}`;
      sink.error(named(`${what}${since} (${messageOf(error)}); ${retrying(job)}`, job));
    },

    warning: ({ message, job, error }) => {
      if (error === undefined) warn(message, job);
      else sink.error(named(message, job), stackOf(error));
    },

    observerFailed: ({ event, error }) => {
      // one that is broken fails again at every run
      const level = brokenAt.has(event) ? 'debug' : 'warn';
      brokenAt.add(event);
      const next = 'Jobs go on, and its next failures are debug lines';
      sink[level](`an observer failed at '${event}' (${describeError(error)}). ${next}`);
    },
  };
}

function timesOf({ pausedAt, pausedUntil }: JobEvents['jobPaused']): string {
  return `since ${pausedAt.toISOString()}${pausedUntil === undefined ? '' : ` until ${pausedUntil.toISOString()}`}`;
}

function whyGained({ because, after }: JobEvents['leadershipGained'], node: string): string {
  if (because === 'lease-ended' && after === node) return 'it leads again after its own lease expired';
  const leader = after === node ? 'this replica' : after;
  return {
    first: 'first leader',
    released: `${leader ?? 'the last leader'} released it`,
    'lease-ended': `the lease of ${leader ?? 'the last leader'} ended`,
    free: `the job was free${leader === undefined ? '' : `, the last known leader was ${leader}`}`,
  }[because];
}
