import { setTimeout as delay } from 'node:timers/promises';
import { type JobRun } from '../../../libs/singleton-job/src/jobs/job-run.js';
import { type Job } from '../../../libs/singleton-job/src/jobs/job.js';
import { cron } from '../../../libs/singleton-job/src/schedule/cron/cron.js';
import { fixedRate } from '../../../libs/singleton-job/src/schedule/fixed-rate.js';
import { interval } from '../../../libs/singleton-job/src/schedule/interval.js';
import { PATIENCE_MS } from '../../../tools/replicas/busy-machine.js';
import { type RecordedRun, violations } from '../../../tools/replicas/history.js';
import { until, type UntilOptions } from '../../../tools/replicas/until.js';
import { type RedisServerOptions } from '../../../tools/servers/redis-server.js';
import { job } from '../../support/job.js';
import { unaccountedOccurrences } from '../../support/occurrences.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { HEARTBEAT_INTERVAL_MS, InProcessReplica } from './in-process-replica.js';
import { type BarePlace, type Copy, type Kind, type Place, portOf, startPlace } from './place.js';

/** So long that a lease survives seconds without a CPU. */
export const LOCK_EXPIRY_MS = 4_000;

const CRON_JOB = 'report';
/** Of a run that is neither aborted nor {@link FaultRun.lasting}. */
const RUN_MS = 20;

/** One job of each kind, with short periods for a test. */
const SCHEDULES: Readonly<Record<string, Job['schedule']>> = {
  'price-tick': fixedRate(100),
  heartbeat: interval(50),
  [CRON_JOB]: cron('* * * * * *'),
};
export const JOBS = Object.keys(SCHEDULES);

interface FaultRunOptions {
  /** @default {@link LOCK_EXPIRY_MS} */
  readonly lockExpiryMs?: number;
  /** @default {@link HEARTBEAT_INTERVAL_MS} */
  readonly heartbeatIntervalMs?: number;
}

let runs = 0;

/**
 * A server, two replicas of one application with a network of their own each, and one history of all their runs. At
 * first, the first replica leads all jobs and the second follows.
 */
export class FaultRun<P extends BarePlace = Place> implements AsyncDisposable {
  readonly project = `fault-run-${String(++runs)}`;
  /** Every run of both replicas so far. They share one clock. */
  readonly runs: RecordedRun[] = [];
  /** The leader, and the follower. */
  readonly replicas: InProcessReplica[] = [];
  /** The job whose run does not end by itself while this names it. */
  lasting: string | undefined;
  #copy: Copy | undefined;

  private constructor(
    readonly place: P,
    /** Of the leader, and of the follower. */
    readonly networks: readonly [TcpProxy, TcpProxy],
    private readonly options: FaultRunOptions,
  ) {}

  static async start(
    kind: Kind,
    { redis, ...options }: FaultRunOptions & { readonly redis?: RedisServerOptions | undefined } = {},
  ): Promise<FaultRun> {
    return FaultRun.on(await startPlace(kind, redis), options);
  }

  /** On a place of its own, which ends with it. */
  static async on<P extends BarePlace>(place: P, options: FaultRunOptions = {}): Promise<FaultRun<P>> {
    const { port } = place.server;
    const run = new FaultRun(place, [await TcpProxy.start(port), await TcpProxy.start(port)], options);
    try {
      run.#startReplica('a', run.networks[0]);
      await run.until('the first replica leads each job', () => run.leader.leads.size === JOBS.length);
      run.#startReplica('b', run.networks[1]);
      await run.until('the second one is connected', () => run.follower.isListening);
      await run.goesOn();
      return run;
    } catch (error: unknown) {
      await run[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The replica that led all jobs at first. */
  get leader(): InProcessReplica {
    return this.replicas[0] as InProcessReplica;
  }

  get follower(): InProcessReplica {
    return this.replicas[1] as InProcessReplica;
  }

  /** Does the same to both networks. */
  everywhere(act: (network: TcpProxy) => unknown): unknown {
    return this.networks.map(act);
  }

  /** A copy of the server, which ends with this run. */
  async copy(this: FaultRun): Promise<Copy> {
    return (this.#copy = await this.place.copy());
  }

  /** Lets a run of this job {@link lasting last}. Resolves to it, once it is under way. */
  lasts(job: string): Promise<RecordedRun> {
    this.lasting = job;
    const underWay = () => this.runs.find((run) => run.job === job && run.endedAtMs === Infinity);
    return this.until('its run is under way', underWay);
  }

  /** Resolves once each job has run again from now on, but for the {@link lasting} one. */
  async goesOn({ withinMs = PATIENCE_MS } = {}): Promise<void> {
    const fromMs = performance.now();
    const hasRun = (name: string): boolean =>
      name === this.lasting ||
      this.runs.some((run) => run.job === name && run.startedAtMs >= fromMs && run.endedAtMs !== Infinity);
    await this.until('each job runs again', () => JOBS.every(hasRun), { withinMs });
  }

  /** Resolves once the second replica leads all jobs. */
  async followerLeads(withinMs = PATIENCE_MS): Promise<void> {
    await this.until('the follower leads', () => this.follower.leads.size === JOBS.length, { withinMs });
  }

  /** Waits until `look` finds something, and fails with both logs if that takes too long. */
  until<T>(what: string, look: () => T | false | undefined, options?: Pick<UntilOptions, 'withinMs'>): Promise<T> {
    const details = (): string => this.replicas.map(({ node, lines }) => `${node}:\n${lines.join('\n')}`).join('\n');
    return until(what, look, { ...options, details });
  }

  /**
   * The broken promises of runs that started after a moment, of both replicas or of one. Empty if all promises were
   * kept.
   */
  violations({ sinceMs = 0, of }: { readonly sinceMs?: number; readonly of?: InProcessReplica } = {}): string[] {
    const replicas = of === undefined ? this.replicas : [of];
    const nodes = new Set(replicas.map(({ node }) => node));
    const runs = this.runs.filter(({ node, startedAtMs }) => nodes.has(node) && startedAtMs >= sinceMs);
    const reports = replicas.flatMap((replica) => replica.reports()).filter(({ atMs }) => atMs >= sinceMs);
    return [
      ...violations(runs),
      ...unaccountedOccurrences(
        runs.filter(({ job }) => job === CRON_JOB),
        reports.filter(({ job }) => job === CRON_JOB),
      ),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.lasting = undefined;
    await Promise.all(this.replicas.map(({ pool }) => pool.close()));
    await Promise.all(this.networks.map((network) => network[Symbol.asyncDispose]()));
    await this.#copy?.[Symbol.asyncDispose]();
    await this.place[Symbol.asyncDispose]();
  }

  #startReplica(node: string, network: TcpProxy): void {
    const { project } = this;
    const { lockExpiryMs = LOCK_EXPIRY_MS, heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS } = this.options;
    const jobs = Object.entries(SCHEDULES).map(([name, schedule]) =>
      job({ name, schedule, lockExpiryMs, warnAfterMs: undefined, run: (run) => this.#run(node, run) }),
    );
    const connection = this.place.urlOf(portOf(network));
    this.replicas.push(new InProcessReplica({ node, project, connection, jobs, lockExpiryMs, heartbeatIntervalMs }));
  }

  /** A run that stops at once when its signal fires. */
  async #run(node: string, { job, fencingToken, scheduledAt, signal }: JobRun): Promise<void> {
    const startedAtMs = performance.now();
    const begun = { job, node, fencingToken, scheduledAtMs: scheduledAt.getTime(), startedAtMs, endedAtMs: Infinity };
    const index = this.runs.push(begun) - 1;
    try {
      do await delay(RUN_MS, undefined, { signal });
      while (job === this.lasting);
    } finally {
      this.runs[index] = { ...begun, endedAtMs: performance.now() };
    }
  }
}
