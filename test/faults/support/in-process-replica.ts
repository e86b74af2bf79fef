import { SystemClock } from '../../../libs/singleton-job/src/base/time/system-clock.js';
import { createReplicaId, createServices } from '../../../libs/singleton-job/src/create-services.js';
import { type Job } from '../../../libs/singleton-job/src/jobs/job.js';
import { resolveOptions } from '../../../libs/singleton-job/src/options/resolve-options.js';
import { type JobPool } from '../../../libs/singleton-job/src/runs/job-pool.js';
import { type Store } from '../../../libs/singleton-job/src/store/store.js';
import { RecordingObserver } from '../../../libs/singleton-job/src/testing/index.js';
import { LATE } from '../../../tools/replicas/busy-machine.js';
import { type Report, reportsIn } from '../../support/occurrences.js';
import { newStore } from './new-store.js';

interface ReplicaOptions {
  readonly node: string;
  readonly project: string;
  readonly connection: string;
  readonly jobs: readonly Job[];
  readonly lockExpiryMs: number;
  readonly heartbeatIntervalMs: number;
}

export const HEARTBEAT_INTERVAL_MS = 200;
/** A claim or a run was under way when its lease ended. */
const INTERRUPTED = /was interrupted in its run of/;

/** One real replica, with its log and its events. */
export class InProcessReplica {
  readonly node: string;
  /**
   * As `warn: message`. Three kinds are left out: debug lines, lines about a busy machine, and lines about missed
   * occurrences and interrupted runs, which the history checks.
   */
  readonly lines: string[] = [];
  /** By the clock of the tests, so that they can compare the time of an event with their own. */
  readonly observer = new RecordingObserver(Object.assign(new SystemClock(), { now: () => performance.now() }));
  /** Whether messages of other replicas arrive. */
  isListening = false;
  readonly store: Store;
  readonly pool: JobPool;

  constructor({ node, project, connection, jobs, lockExpiryMs, heartbeatIntervalMs }: ReplicaOptions) {
    this.node = node;
    const store = (this.store = newStore({ projectName: project, connection, minTtlMs: lockExpiryMs }));
    const resolved = resolveOptions({
      projectName: project,
      connection,
      heartbeatInterval: heartbeatIntervalMs,
      lockExpiry: lockExpiryMs,
      shutdownTimeout: '30s',
      observers: [this.observer],
    });
    store.addListener({ listening: (isListening) => (this.isListening = isListening) });
    const write = (level: string) => (message: string) => {
      if (!LATE.test(message) && !INTERRUPTED.test(message)) this.lines.push(`${level}: ${message}`);
    };
    const sink = { error: write('error'), warn: write('warn'), log: write('log'), debug: () => undefined };
    const { pool } = createServices(resolved, { id: createReplicaId(node), store, log: sink });
    for (const job of jobs) pool.add(job);
    pool.start();
    this.pool = pool;
  }

  /** The jobs that it leads at the moment, by its own events. */
  get leads(): ReadonlySet<string> {
    const leads = new Set<string>();
    for (const { event, payload } of this.observer.events) {
      if (event === 'leadershipGained') leads.add(payload.job);
      if (event === 'leadershipLost' || event === 'leadershipReleased') leads.delete(payload.job);
    }
    return leads;
  }

  /** Its log lines about occurrences that were not started. */
  reports(): Report[] {
    const { node } = this;
    return this.observer.events.flatMap(({ atMs, event, payload }) => reportsIn(event, payload, { node, atMs }));
  }
}
