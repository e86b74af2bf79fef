import { setTimeout as delay } from 'node:timers/promises';
import { type Redis } from 'ioredis';
import { type JobDefinition } from '../../../../libs/singleton-job/src/discovery/index.js';
import { type RedisConnectionOptions } from '../../../../libs/singleton-job/src/store/index.js';
import { type SingletonJobOptions } from '../../../../libs/singleton-job/src/options/index.js';
import { cron, fixedRate, interval } from '../../../../libs/singleton-job/src/schedule/index.js';
import { PATIENCE_MS } from '../../../../tools/replicas/busy-machine.js';
import { job } from '../../../support/fleet.js';
import { HostileReplica } from './in-process-replica.js';
import { HostileWitness, type WitnessedRun } from './run-history.js';

/** One job of each kind, at a pace at which a test can wait for it. */
const HOSTILE_JOBS = ['price-tick', 'heartbeat', 'report'] as const;

export interface PairOptions {
  readonly options?: Partial<SingletonJobOptions>;
  readonly jobs?: readonly Partial<JobDefinition>[];
}

let pairs = 0;

/**
 * Two replicas of one application in this process, each with its own connections, and one witness of all their runs. The
 * first leads everything when the pair is handed out, and the second waits for it.
 */
export class HostilePair implements AsyncDisposable {
  readonly project = `hostile-${String(++pairs)}`;
  readonly #witness = new HostileWitness();
  #leader: HostileReplica | undefined;
  #follower: HostileReplica | undefined;
  #startedMs = NaN;

  private constructor(private readonly settings: PairOptions) {}

  static async start(
    [leader, follower]: readonly [RedisConnectionOptions, RedisConnectionOptions],
    settings: PairOptions = {},
  ): Promise<HostilePair> {
    const pair = new HostilePair(settings);
    try {
      pair.#leader = pair.#begin('a', leader);
      await pair.until('the first replica leads each job', () => pair.leader.leads.size === pair.jobNames.length);
      pair.#startedMs = performance.now();
      pair.#follower = pair.#begin('b', follower);
      await pair.until('the second one is connected', () => pair.follower.store.isSubscribed);
      await pair.goesOn();
      return pair;
    } catch (error: unknown) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The one that led everything at first. */
  get leader(): HostileReplica {
    return given(this.#leader);
  }

  get follower(): HostileReplica {
    return given(this.#follower);
  }

  get replicas(): readonly HostileReplica[] {
    return [this.#leader, this.#follower].filter((replica) => replica !== undefined);
  }

  get jobNames(): readonly string[] {
    return this.settings.jobs?.map(({ name }) => name ?? 'tick') ?? HOSTILE_JOBS;
  }

  /** The key of a lock, and of the state beside it. */
  lock(name: string): string {
    return `${this.project}:${name}:lock`;
  }

  state(name: string): string {
    return `{${this.lock(name)}}:state`;
  }

  /** Everything that the pair has in Redis. */
  keys(redis: Redis): Promise<string[]> {
    return redis.keys(`*${this.project}:*`);
  }

  /** Resolves once the first heartbeat on this server, which is as new as the pair, is a lease ago: until then no released lock is taken. */
  async untilServerIsKnown(): Promise<void> {
    const fromMs = this.#startedMs + HostileReplica.lockExpiryMs(this.settings.options) + 500;
    await this.until('the server is known', () => performance.now() > fromMs);
  }

  /** Resolves once each job has run again from now on. */
  async goesOn({ withinMs = PATIENCE_MS } = {}): Promise<void> {
    const fromMs = performance.now();
    const hasRun = (name: string): boolean =>
      this.runs.some((run) => run.job === name && run.startedMs >= fromMs && run.endedMs !== undefined);
    await this.until('each job runs again', () => this.jobNames.every(hasRun), { withinMs });
  }

  /** Waits generously: what is waited for is promised, how fast this machine is at the moment is not. */
  async until(
    what: string,
    isSo: () => boolean | Promise<boolean>,
    { withinMs = PATIENCE_MS }: { readonly withinMs?: number } = {},
  ): Promise<void> {
    const giveUpAtMs = performance.now() + withinMs;
    for (;;) {
      // after a loop that stood still, all that was overdue has its turn before the last look
      const isLastLook = performance.now() > giveUpAtMs;
      if (await isSo()) return;
      if (isLastLook) {
        const story = this.replicas.map(({ node, lines }) => `${node}:\n${lines.join('\n')}`).join('\n');
        throw new Error(`waited ${String(withinMs)} ms in vain: ${what}\n${story}`);
      }
      await delay(5);
    }
  }

  /** Every run of both replicas so far. */
  get runs(): readonly WitnessedRun[] {
    return this.#witness.runs;
  }

  /** The broken promises of runs that started after a moment, of both replicas or of one by itself; none, if all is well. */
  violations({ sinceMs = 0, of }: { readonly sinceMs?: number; readonly of?: HostileReplica } = {}): string[] {
    const nodes = of === undefined ? this.replicas : [of];
    return this.#witness.violations(nodes, sinceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map(({ supervisor }) => supervisor.close()));
  }

  #begin(node: string, connection: RedisConnectionOptions): HostileReplica {
    const jobs = this.settings.jobs?.map((own) => this.#job(node, own)) ?? this.#usual(node);
    return new HostileReplica({ node, project: this.project, connection, jobs, options: this.settings.options });
  }

  #usual(node: string): JobDefinition[] {
    return [
      this.#job(node, { name: 'price-tick', schedule: fixedRate(100, { offsetMs: 0 }) }),
      this.#job(node, { name: 'heartbeat', schedule: interval(50) }),
      this.#job(node, { name: 'report', schedule: cron('* * * * * *') }),
    ];
  }

  #job(node: string, own: Partial<JobDefinition>): JobDefinition {
    return {
      ...job({ name: 'tick' }),
      lockExpiryMs: HostileReplica.lockExpiryMs(this.settings.options),
      ...own,
      invoke: (run) => this.#witness.run(node, run),
    };
  }
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there yet');
  return value;
}
