import { type Fact } from './facts.js';

/** Writes the facts of a made-up performance; its job runs on a grid of 100 ms. */
export class Script {
  readonly facts: Fact[] = [];
  #atMs = 0;
  readonly #pids = new Map<string, number>();

  /** Lets time pass. */
  wait(ms: number): this {
    this.#atMs += ms;
    return this;
  }

  start(replica: string): this {
    this.#pids.set(replica, 100 + this.#pids.size);
    return this.#add(replica, { event: 'processStarted' }).#add(replica, { event: 'processReady' });
  }

  stop(replica: string): this {
    return this.#add(replica, { event: 'processStopping' });
  }

  kill(replica: string): this {
    this.#add(replica, { event: 'processKilled' });
    return this.end(replica, null);
  }

  end(replica: string, code: number | null = 0): this {
    return this.#add(replica, { event: 'processEnded', code, signal: code === null ? 'SIGKILL' : null });
  }

  lead(replica: string, job: string, fencingToken: number): this {
    return this.#add(replica, { event: 'leadershipGained', payload: { job, fencingToken } });
  }

  release(replica: string, job: string, fencingToken: number): this {
    const payload = { job, fencingToken, reason: 'shutdown', confirmed: true } as const;
    return this.#add(replica, { event: 'leadershipReleased', payload });
  }

  run(replica: string, job: string, fencingToken: number): this {
    return this.#add(replica, { event: 'runStarted', payload: this.#run(job, fencingToken) });
  }

  done(replica: string, job: string, { durationMs = 10 }: { durationMs?: number } = {}): this {
    return this.#add(replica, { event: 'runSucceeded', payload: { ...this.#run(job, 0), durationMs } });
  }

  drop(replica: string, job: string): this {
    const { kind, scheduledAt } = this.#run(job, 0);
    return this.#add(replica, {
      event: 'tickDropped',
      payload: { job, kind, scheduledAt, reason: 'overlap', count: 1 },
    });
  }

  #run(job: string, fencingToken: number) {
    const slot = new Date(Math.floor(this.#atMs / 100) * 100).toISOString();
    return { job, kind: 'fixed-rate', cause: 'schedule', scheduledAt: slot, startedAt: slot, fencingToken } as const;
  }

  #add(replica: string, news: DistributiveOmit<Fact, 'replica' | 'pid' | 'atMs'>): this {
    this.facts.push({ ...news, replica, pid: this.#pids.get(replica) ?? 0, atMs: this.#atMs });
    return this;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
