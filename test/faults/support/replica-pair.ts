import { type Redis } from 'ioredis';
import { type Job } from '../../../libs/singleton-job/src/jobs/job.js';
import { type JobRecord } from '../../../libs/singleton-job/src/leadership/record.js';
import { type SingletonJobOptions } from '../../../libs/singleton-job/src/options/singleton-job.options.js';
import { cron } from '../../../libs/singleton-job/src/schedule/cron/cron.js';
import { fixedRate } from '../../../libs/singleton-job/src/schedule/fixed-rate.js';
import { interval } from '../../../libs/singleton-job/src/schedule/interval.js';
import { type ConnectionOptions } from '../../../libs/singleton-job/src/store/open-store.js';
import { job } from '../../../libs/singleton-job/src/testing/specs/job.js';
import { PATIENCE_MS } from '../../../tools/replicas/busy-machine.js';
import { type RecordedRun } from '../../../tools/replicas/history.js';
import { until, type UntilOptions } from '../../../tools/replicas/until.js';
import { InProcessReplica } from './in-process-replica.js';
import { RunHistory } from './run-history.js';

/** One job of each kind, with short periods for a test. */
const FAULT_RUN_JOBS = ['price-tick', 'heartbeat', 'report'] as const;

export interface PairOptions {
  readonly options?: Partial<SingletonJobOptions>;
  readonly jobs?: readonly Partial<Job>[];
  /** Messages do not arrive. @default false */
  readonly isWithoutMessages?: boolean;
}

let pairs = 0;

/**
 * Two replicas of one application in this process, each with its own connections, and one history of all their runs. When
 * the pair is returned, the first leads all jobs and the second follows.
 */
export class ReplicaPair implements AsyncDisposable {
  readonly project = `fault-run-${String(++pairs)}`;
  readonly #history = new RunHistory();
  #leader: InProcessReplica | undefined;
  #follower: InProcessReplica | undefined;

  private constructor(private readonly settings: PairOptions) {}

  static async start(
    [leader, follower]: readonly [ConnectionOptions, ConnectionOptions],
    settings: PairOptions = {},
  ): Promise<ReplicaPair> {
    const pair = new ReplicaPair(settings);
    try {
      pair.#leader = pair.#begin('a', leader);
      await pair.until('the first replica leads each job', () => pair.leader.leads.size === pair.jobNames.length);
      pair.#follower = pair.#begin('b', follower);
      if (settings.isWithoutMessages !== true)
        await pair.until('the second one is connected', () => pair.follower.isListening);
      await pair.goesOn();
      return pair;
    } catch (error: unknown) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The replica that led all jobs at first. */
  get leader(): InProcessReplica {
    return given(this.#leader);
  }

  get follower(): InProcessReplica {
    return given(this.#follower);
  }

  get replicas(): readonly InProcessReplica[] {
    return [this.#leader, this.#follower].filter((replica) => replica !== undefined);
  }

  get jobNames(): readonly string[] {
    return this.settings.jobs?.map(({ name }) => name ?? 'tick') ?? FAULT_RUN_JOBS;
  }

  /** The keys of the leases and of the record of a job in Redis. */
  get leases(): string {
    return `{${this.project}}:leases`;
  }

  record(name: string): string {
    return `{${this.project}}:${name}:lock`;
  }

  /** What Redis has about each job. */
  async records(redis: Redis): Promise<JobRecord[]> {
    const texts = await redis.mget(this.jobNames.map((name) => this.record(name)));
    return texts.map((text) => JSON.parse(text?.slice(text.indexOf(' ')) ?? '{}') as JobRecord);
  }

  /** Resolves once each job has run again from now on. */
  async goesOn({ withinMs = PATIENCE_MS } = {}): Promise<void> {
    const fromMs = performance.now();
    const hasRun = (name: string): boolean =>
      this.runs.some((run) => run.job === name && run.startedAtMs >= fromMs && run.endedAtMs !== Infinity);
    await this.until('each job runs again', () => this.jobNames.every(hasRun), { withinMs });
  }

  /** Waits until `isSo`, and fails with both logs if that takes too long. */
  until(what: string, isSo: () => boolean | Promise<boolean>, options?: Pick<UntilOptions, 'withinMs'>): Promise<void> {
    const details = (): string => this.replicas.map(({ node, lines }) => `${node}:\n${lines.join('\n')}`).join('\n');
    return until(what, isSo, { ...options, details });
  }

  /** Every run of both replicas so far. */
  get runs(): readonly RecordedRun[] {
    return this.#history.runs;
  }

  /** The broken promises of runs that started after a moment, of both replicas or of one. Empty if all promises were kept. */
  violations({ sinceMs = 0, of }: { readonly sinceMs?: number; readonly of?: InProcessReplica } = {}): string[] {
    const nodes = of === undefined ? this.replicas : [of];
    return this.#history.violations(nodes, sinceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map(({ pool }) => pool.close()));
  }

  #begin(node: string, connection: ConnectionOptions): InProcessReplica {
    const jobs = this.settings.jobs?.map((own) => this.#job(node, own)) ?? this.#usual(node);
    return new InProcessReplica({ node, project: this.project, connection, jobs, options: this.settings.options });
  }

  #usual(node: string): Job[] {
    return [
      this.#job(node, { name: 'price-tick', schedule: fixedRate(100, { offsetMs: 0 }) }),
      this.#job(node, { name: 'heartbeat', schedule: interval(50) }),
      this.#job(node, { name: 'report', schedule: cron('* * * * * *') }),
    ];
  }

  #job(node: string, own: Partial<Job>): Job {
    return {
      ...job({ name: 'tick' }),
      lockExpiryMs: InProcessReplica.lockExpiryMs(this.settings.options),
      ...own,
      invoke: (run) => this.#history.run(node, run),
    };
  }
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there yet');
  return value;
}
