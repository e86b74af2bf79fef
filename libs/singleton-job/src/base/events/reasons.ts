/**
 * How a replica became the leader, as far as it knows: `first`, there was no data yet; `released`, the last leader released the job;
 * `lease-ended`, the last leader was killed or could not reach the store: it may have been this replica; `free`, there was no record of the
 * job, which is new or was lost.
 */
export type LeadershipGain = 'first' | 'released' | 'lease-ended' | 'free';

/** How a term was lost. `expired`: the lease was not confirmed before its deadline. `preempted`: another holder has the lock. */
export type LeadershipLoss = 'expired' | 'preempted';

/**
 * Why this replica gave a term back: the application stops, the runner broke, three calls of a `@WhileLeader` method in a row failed
 * (`failed-calls`), a method of the registry was called, or a replica that leads fewer jobs takes the job (`rebalance`).
 */
export type LeadershipReleaseReason =
  'shutdown' | 'runner-failed' | 'failed-calls' | 'paused' | 'stepped-down' | 'unregistered' | 'rebalance';

/**
 * Why the leader did not start a tick:
 *
 * - `overlap`: a run was in flight;
 * - `late`: the event loop was blocked, and a newer tick was due as well;
 * - `lease-unconfirmed`: the clocks disagreed, and no heartbeat had been confirmed since.
 */
export type TickDropReason = 'overlap' | 'late' | 'lease-unconfirmed';

/**
 * Why cron occurrences were not started:
 *
 * - `late`: no replica led, or the leader was blocked or suspended, until the misfire grace was over or a newer occurrence was due as well;
 * - `data-lost`: they came due before the store restarted or lost its data, and are not claimed. Their claims may be lost;
 * - `schedule-changed`: they are older than a new schedule. They are counted by the new schedule, and not reported if it has none there.
 *
 * A leader writes its reports within 10 s. If it is lost before that, the next leader reports them again.
 */
export type MissReason = 'late' | 'data-lost' | 'schedule-changed';

/**
 * What a `warning` of the library is about. The store has codes of its own: the pages about production have them.
 *
 * - `CLOCK_AHEAD`: the clock of this replica is more than a minute ahead of the store, so a cron occurrence could not be claimed yet. The
 *   replica claims it again when the clock of the store has come that far.
 * - `HEARTBEAT_THREAD_FAILED`: the heartbeat thread ended, or had no connection for 10 s while the main thread had one. The main thread
 *   still renews the leases, but they no longer outlast a blocked event loop. Once, and until the process is restarted. Not at a stop.
 * - `SCHEDULE_DIFFERS`: the leader of a job has another schedule than this replica. Once for each schedule: after a change until the deploy
 *   has ended, or for ever if two applications have one `projectName`.
 * - `RUNNER_FAILED`: the library itself failed while it led a job. Its term is given back, and the job starts again.
 */
export type WarningCode = 'CLOCK_AHEAD' | 'HEARTBEAT_THREAD_FAILED' | 'SCHEDULE_DIFFERS' | 'RUNNER_FAILED';
