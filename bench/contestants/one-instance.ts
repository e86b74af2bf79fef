import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type Job, type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';
import { RELEASE, RENEW } from './scripts.js';

/** Sets a lock that nobody has, and draws its fencing token; 0 where somebody has it. */
const TAKE = `local isFree = redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX')
return isFree and redis.call('INCR', KEYS[2]) or 0`;

/** A replica that ran a job so recently keeps the lease for the rest of this time when it stops: clocks differ. */
const HAND_OVER_MS = 1_000;

/**
 * The documented design of `@nestjs/locks` 0.0.1, which the npm registry does not have: `@nestjs/schedule`, and the lease of
 * `@OnOneInstance()`, which the replica that runs a job keeps between its ticks. `withoutOverlapping` adds the lock of
 * `@WithoutOverlapping()` around each run.
 */
export const start: Start = (host) => {
  const { serverUrl, project, options } = host.settings;
  const ttlMs = Number(options['ttlMs'] ?? 30_000);
  const logger = new Logger('Locks');
  const redis = new Redis(serverUrl);
  const logError = (error: unknown): void => {
    logger.error(error);
  };
  redis.on('error', logError);
  const leases = new Map<Job, Lease>();
  const requests = new Map<Job, Promise<Lease | null>>();
  const lastStartMs = new Map<Job, number>();
  const running = new Set<Promise<void>>();

  async function take(key: string): Promise<Lease | null> {
    const lease = new Lease(redis, `${project}:${key}`, ttlMs, logError);
    const token = Number(await redis.eval(TAKE, 2, lease.key, `${project}:tokens`, lease.owner, ttlMs));
    if (token === 0) return null;
    lease.begin(token);
    return lease;
  }

  async function ownerLease(job: Job): Promise<Lease | null> {
    const held = leases.get(job);
    if (held?.isHeld === true) return held;
    let request = requests.get(job);
    if (request === undefined) {
      request = take(`${job.name}:owner`).finally(() => requests.delete(job));
      requests.set(job, request);
    }
    const lease = await request;
    if (lease === null || leases.get(job) === lease) return lease;
    leases.set(job, lease);
    host.leads(job.name);
    lease.signal.addEventListener('abort', () => {
      host.follows(job.name);
    });
    return lease;
  }

  async function runOnce(job: Job): Promise<void> {
    const owner = await ownerLease(job);
    if (owner === null) return;
    const lock = options['withoutOverlapping'] === true ? await take(job.name) : owner;
    if (lock === null) return;
    lastStartMs.set(job, Date.now());
    try {
      await job.run({ signal: AbortSignal.any([owner.signal, lock.signal]) });
    } finally {
      if (lock !== owner) await lock.end(0);
    }
  }

  return startSchedule(
    host,
    (job) => () => {
      const run = runOnce(job)
        .catch(logError)
        .finally(() => running.delete(run));
      running.add(run);
      return run;
    },
    async () => {
      await Promise.all(running);
      const restMs = (job: Job): number => HAND_OVER_MS - (Date.now() - (lastStartMs.get(job) ?? 0));
      await Promise.all([...leases].map(([job, lease]) => lease.end(restMs(job)).catch(logError)));
      await redis.quit();
    },
  );
};

/** A lock that renews itself three times in its life. It counts as lost when that life, from the last renewal on, is over. */
class Lease {
  readonly owner = randomUUID();
  token = 0;
  private readonly gone = new AbortController();
  private deadlineMs = Date.now();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;

  constructor(
    private readonly redis: Redis,
    readonly key: string,
    private readonly ttlMs: number,
    private readonly logError: (error: unknown) => void,
  ) {
    // the life begins no earlier at the server than the request is sent here
    this.deadlineMs = Date.now() + ttlMs;
  }

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get isHeld(): boolean {
    return !this.signal.aborted && Date.now() < this.deadlineMs;
  }

  begin(token: number): void {
    this.token = token;
    this.schedule();
  }

  /** Gives the lock back, or lets it expire after `restMs`. */
  async end(restMs: number): Promise<void> {
    if (this.signal.aborted) return;
    this.stop();
    if (restMs > 0) await this.redis.eval(RENEW, 1, this.key, this.owner, restMs);
    else await this.redis.eval(RELEASE, 1, this.key, this.owner);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const delayMs = Math.max(0, Math.min(this.ttlMs / 3, this.deadlineMs - Date.now()));
    this.timer = setTimeout(() => {
      if (Date.now() >= this.deadlineMs) {
        this.stop();
        return;
      }
      if (!this.isRenewing) void this.renew();
      this.schedule();
    }, delayMs);
  }

  private async renew(): Promise<void> {
    this.isRenewing = true;
    const sentAtMs = Date.now();
    try {
      const isRenewed = (await this.redis.eval(RENEW, 1, this.key, this.owner, this.ttlMs)) === 1;
      if (this.signal.aborted) return;
      if (isRenewed) {
        this.deadlineMs = sentAtMs + this.ttlMs;
        this.schedule();
      } else {
        this.stop();
      }
    } catch (error) {
      this.logError(error);
    } finally {
      this.isRenewing = false;
    }
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.gone.abort();
  }
}
