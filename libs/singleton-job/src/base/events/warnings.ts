import { describeError, messageOf } from '../errors/message-of.js';
import { showDuration } from '../text/duration.js';
import { type JobEvents } from './events.js';

type Warning = JobEvents['warning'];

/** Occurrences wait for the clock of the store, which is behind that of the replica. */
export function clockAhead(job: string, due: Date, aheadMs: number, [replica, store]: [string, string]): Warning {
  const message =
    `is due at ${due.toISOString()}, ${showDuration(aheadMs)} ahead of the clock of ${store}. ` +
    `Its runs go by that clock. Synchronise the clocks of ${replica} and of ${store}`;
  return { code: 'CLOCK_AHEAD', message, job };
}

/** The clock of the store was ahead, and occurrences that lie ahead now were claimed by it. */
export function claimsAhead(job: string, claimed: Date, isBegunAnew: boolean, store: string): Warning {
  const why = `Its occurrences up to ${claimed.toISOString()} may have run while the clock of ${store} was ahead`;
  const next = isBegunAnew ? 'That is more than a day, so its schedule begins anew' : 'No other one runs until then';
  return { code: 'CLAIMS_AHEAD', message: `${why}. ${next}. Check that clock`, job };
}

export function heartbeatThreadFailed(error: unknown): Warning {
  const message =
    `has no working heartbeat thread (${messageOf(error)}): a job that blocks the event loop for ` +
    'longer than its lockExpiry loses its lease. Fix the cause and restart the process';
  return { code: 'HEARTBEAT_THREAD_FAILED', message, error };
}

/** The leader of a job runs another version of the application, or another application. */
export function scheduleDiffers(job: string, mine: string, theirs: string, leader: string): Warning {
  const message =
    `has the schedule '${mine}' here, and '${theirs}' on ${leader}, which leads it. That is so during a deploy of a change. If it stays, ` +
    'two applications have one projectName, or an old version still runs';
  return { code: 'SCHEDULE_DIFFERS', message, job };
}

/** A method of `@WhileLeader` does not wait for the end of the leadership. */
export function returnsAtOnce(job: string, restartDelayMs: number): Warning {
  const message =
    `returns at once, and is called again ${showDuration(restartDelayMs)} later. It should last as long as the leadership: ` +
    "let it wait for once(run.signal, 'abort') of node:events, or use @Interval for work that ends";
  return { code: 'RETURNS_AT_ONCE', message, job };
}

/** A test moves time by fake timers, and a run waits for a timer of the machine. */
export function waitsForRealTime(job: string): Warning {
  const message =
    'has a run that does not end while fake timers pass: they do not move node:timers/promises. ' +
    'Let it wait by run.sleep(), or settle what it waits for';
  return { code: 'WAITS_FOR_REAL_TIME', message, job };
}

export function onlyFailed(job: string, at: Date, error: unknown): Warning {
  const message =
    `cannot decide about its occurrence of ${at.toISOString()}: its option only failed (${describeError(error)}). ` +
    'It is asked again until the misfire grace is over';
  return { code: 'ONLY_FAILED', message, job, error };
}

export function runnerFailed(job: string, error: unknown): Warning {
  const message =
    `met an error of the library (${describeError(error)}). If this replica leads it, another one takes over. ` +
    'Please report it with this stack';
  return { code: 'RUNNER_FAILED', message, job, error };
}
