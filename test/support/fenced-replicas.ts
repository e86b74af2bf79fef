import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import { FixedRate, type JobRun, SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';
import { deferred } from './deferred.js';
import { type StartedApplication, startApplication } from './nest-application.js';
import { monitored } from './redis-monitor.js';

type Task = (run: JobRun) => Promise<void>;

/** Its runs do what a test tells them: a task each, and nothing while there is none. */
@Injectable()
export class Errands {
  #next: ((run: JobRun) => Promise<void>) | undefined;

  @FixedRate('50ms', { name: 'report' })
  async work(run: JobRun): Promise<void> {
    const task = this.#next;
    this.#next = undefined;
    await task?.(run);
  }

  /** Gives the task to the next run of this replica; settles as the task did, with its run. */
  inNextRun(task: Task): Promise<JobRun> {
    return new Promise((resolve, reject) => {
      this.#next = (run) =>
        task(run).then(() => {
          resolve(run);
        }, reject);
    });
  }
}

/** Leads for a minute after one renewal, and asks for the next after 20 s: a lock that is gone is not noticed in a test. */
export const SLOW_TO_NOTICE = { heartbeatInterval: '20s', lockExpiry: '60s' } as const;

export const QUICK_TO_NOTICE = { heartbeatInterval: '200ms', lockExpiry: '1s' } as const;

/** Replicas of one job on a Redis, which ends with nothing on it. */
export class FencedReplicas {
  readonly redis: Redis;
  readonly #started: StartedApplication[] = [];

  constructor(private readonly url: string) {
    this.redis = new Redis(url);
  }

  async start(options: Partial<SingletonJobOptions>): Promise<Errands> {
    const module = SingletonJobModule.forRoot({ projectName: 'fencing', connection: this.url, ...options });
    const started = await startApplication({ imports: [module], providers: [Errands] });
    this.#started.push(started);
    return started.app.get(Errands);
  }

  /** Takes the lock from whoever has it, who is not told. */
  async takeLock(): Promise<void> {
    const taken = await this.redis.del('fencing:report:lock');
    if (taken !== 1) throw new Error('nobody had the lock');
  }

  /** The next token will be larger than this. */
  async raiseToken(token: number): Promise<void> {
    await this.redis.hset('{fencing:report:lock}:state', { token });
  }

  /** Waits until a replica has bid whose holder begins so; it was answered with what there was before the next command. */
  async bidOf(nodeId: string, start: () => Promise<Errands>): Promise<Errands> {
    const { promise, resolve } = deferred<string>();
    const hear = (line: string): void => {
      if (line.includes(`"${nodeId}-`)) resolve(line);
    };
    return await monitored(this.url, hear, async () => {
      const replica = await start();
      await promise;
      return replica;
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#started.map((application) => application[Symbol.asyncDispose]()));
    await this.redis.flushall();
    await this.redis.quit();
  }
}

/** Replicas that begin anew for each test of the block. */
export function useFencedReplicas(url: () => string): () => FencedReplicas {
  let replicas: FencedReplicas;
  beforeEach(() => {
    replicas = new FencedReplicas(url());
  });
  afterEach(() => replicas.end());
  return () => replicas;
}
