import { type ProcessRun, recordedRuns } from './recorded-runs.js';
import { until, type UntilOptions } from './until.js';
import { type Exit, type WorkerEvent, WorkerProcess, type WorkerVariables } from './worker-process.js';

export const HEARTBEAT_INTERVAL_MS = 400;
/** So long that a lease outlives a core that is taken away for seconds. */
export const LOCK_EXPIRY_MS = 4_000;
/** So long that no test sees a lock that expires by itself. */
export const LASTING: WorkerVariables = {
  SINGLETON_JOB_LOCK_EXPIRY: '20s',
  SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: '20s',
};

/** Everything at a pace at which a test can wait for it; the report is due once a year. */
export const QUICK: WorkerVariables = {
  SINGLETON_JOB_HEARTBEAT_INTERVAL: `${HEARTBEAT_INTERVAL_MS}ms`,
  SINGLETON_JOB_LOCK_EXPIRY: `${LOCK_EXPIRY_MS}ms`,
  SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: `${LOCK_EXPIRY_MS}ms`,
  SINGLETON_JOB_JOBS__HEARTBEAT__DELAY: '300ms',
  SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '0 0 1 1 *',
  SINGLETON_JOB_JOBS__DAILY_REPORT__TIME_ZONE: 'UTC',
  DAILY_REPORT_TAKES: '300ms',
};

export const JOBS = ['heartbeat', 'price-tick', 'daily-report'] as const;
export type Job = (typeof JOBS)[number];

type WorkerRun = ProcessRun & { readonly job: Job };

let projects = 0;

/** Three real workers of one application. Leaves no process behind: `await using`. */
export class Workers implements AsyncDisposable {
  private constructor(
    /** A spec may add some. */
    readonly all: WorkerProcess[],
    /** The first part of their keys. */
    readonly project = '',
  ) {}

  /** Resolves once each job has its leader. */
  static async start(
    redisUrl: string,
    variables: WorkerVariables = {},
    { clocksAheadMs = [0, 0, 0] }: { readonly clocksAheadMs?: readonly [number, number, number] } = {},
  ): Promise<Workers> {
    // several groups of workers may share a Redis
    const own = { SINGLETON_JOB_CONNECTION: redisUrl, SINGLETON_JOB_PROJECT_NAME: `workers-${++projects}` };
    const workers = new Workers(
      ['a', 'b', 'c'].map(
        (node, index) =>
          new WorkerProcess(node, { ...QUICK, ...own, ...variables }, { clockAheadMs: clocksAheadMs[index] ?? 0 }),
      ),
      own.SINGLETON_JOB_PROJECT_NAME,
    );
    try {
      await workers.until('all are ready', () => workers.all.every(({ isReady }) => isReady));
      await workers.until('each job is led', () => JOBS.every((job) => workers.leadersOf(job).length === 1));
      return workers;
    } catch (error: unknown) {
      await workers.kill();
      throw error;
    }
  }

  /** Workers that were started one by one. */
  static of(...all: WorkerProcess[]): Workers {
    return new Workers(all);
  }

  /** Adds one more. Resolves to it once it is ready. */
  async add(worker: WorkerProcess): Promise<WorkerProcess> {
    this.all.push(worker);
    await this.until(`${worker.node} is ready`, () => worker.isReady);
    return worker;
  }

  get running(): readonly WorkerProcess[] {
    return this.all.filter(({ hasExited }) => !hasExited);
  }

  /** The events of all workers, oldest first. */
  get events(): WorkerEvent[] {
    return this.all.flatMap(({ events }) => events).sort((a, b) => a.atMs - b.atMs);
  }

  eventsOf(job: Job, event: WorkerEvent['event']): WorkerEvent[] {
    return this.events.filter((one) => one.event === event && one.payload?.job === job);
  }

  /** The running workers that lead the job, by their own events. */
  leadersOf(job: Job): WorkerProcess[] {
    return this.running.filter(({ events }) => {
      const last = events.findLast(({ event, payload }) => payload?.job === job && event.startsWith('leadership'));
      return last?.event === 'leadershipGained';
    });
  }

  /** The one leader of a job that has one. */
  leaderOf(job: Job): WorkerProcess {
    const [leader, ...others] = this.leadersOf(job);
    if (leader === undefined || others.length > 0)
      throw new Error(`${job} has ${others.length} leaders too many, or none`);
    return leader;
  }

  /** Every run, oldest first. What ran in a process that died ended with it. */
  runs(job?: Job): WorkerRun[] {
    const runs = this.all.flatMap((worker) => runsOf(worker)).filter((run) => job === undefined || run.job === job);
    return runs.sort((a, b) => a.startedAtMs - b.startedAtMs);
  }

  /** Waits for a run in flight that began at most so long ago. */
  runInFlight(job: Job, sinceMs: number): Promise<WorkerRun> {
    return this.until('a run has begun', () =>
      this.runs(job).find((run) => run.outcome === undefined && Date.now() - run.startedAtMs < sinceMs),
    );
  }

  /** Waits until `look` finds something, and fails with everything that happened last if that takes too long. */
  until<T>(what: string, look: () => T | false | undefined, options?: Pick<UntilOptions, 'withinMs'>): Promise<T> {
    return until(what, look, { ...options, details: () => this.#scenario() });
  }

  /** Waits until every job that is due often has been run by a replica after `sinceMs`. */
  async untilJobsGoOn(sinceMs: number, options?: { withinMs?: number }): Promise<void> {
    const goesOn = (job: Job): boolean => this.runs(job).some(({ startedAtMs }) => startedAtMs > sinceMs);
    await this.until('the jobs go on', () => goesOn('heartbeat') && goesOn('price-tick'), options);
  }

  /** Stops the running ones, together. */
  stop(): Promise<Exit[]> {
    return Promise.all(this.running.map((worker) => worker.stop()));
  }

  async kill(): Promise<void> {
    await Promise.all(this.running.map((worker) => worker.kill()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #scenario(): string {
    const reported = this.events.map(({ atMs, node, event, payload }) => ({
      atMs,
      text: `${node} ${event} ${JSON.stringify(payload)}`,
    }));
    const printed = this.all.flatMap(({ node, lines }) =>
      lines.map(({ atMs, text }) => ({ atMs, text: `${node} > ${text}` })),
    );
    const lines = [...reported, ...printed].sort((a, b) => a.atMs - b.atMs).slice(-80);
    return lines.map(({ atMs, text }) => `${new Date(atMs).toISOString()} ${text}`).join('\n');
  }
}

function runsOf(worker: WorkerProcess): WorkerRun[] {
  return recordedRuns(worker).flatMap((run) => {
    const job = JOBS.find((name) => name === run.job);
    return job === undefined ? [] : [{ ...run, job }];
  });
}
