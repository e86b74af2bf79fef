import { LockStoreError } from '../base/errors/lock-store.error.js';
import { type Clock } from '../base/time/clock.js';
import { isoOf } from '../base/time/iso-of.js';
import { type Job } from '../jobs/job.js';
import { jobRecord, leaseOf, replicaOf, type RunRecord, type SeenRecord } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { nextDue } from '../runs/due.js';
import { type JobPool } from '../runs/job-pool.js';
import { type Store } from '../store/store.js';
import { type JobOverview } from './job-status.js';

const LIMIT_MS = 2_000;
/** A page that many people watch costs one read in this time. */
const CACHE_MS = 2_000;

/** What the store knows of all jobs, whichever replica leads them. */
export class JobOverviews {
  #cached: { readonly atMs: number; readonly result: Promise<readonly JobOverview[]> } | undefined;

  constructor(
    private readonly parts: {
      readonly replica: Replica;
      readonly pool: JobPool;
      readonly clock: Clock;
      readonly store: Pick<Store, 'name'>;
    },
  ) {}

  /** @throws LockStoreError when the store has not answered */
  read(): Promise<readonly JobOverview[]> {
    const now = this.parts.clock.now();
    if (this.#cached !== undefined && now - this.#cached.atMs < CACHE_MS) return this.#cached.result;
    const result = this.#read();
    this.#cached = { atMs: now, result };
    // an error is not kept
    result.catch(() => (this.#cached = undefined));
    return result;
  }

  async #read(): Promise<readonly JobOverview[]> {
    const { replica, pool, store } = this.parts;
    const jobs = pool.jobs.map(({ job }) => job);
    replica.open();
    const names = jobs.map(({ name }) => jobRecord(name));
    const records = replica.isClosing ? undefined : await replica.read(names, LIMIT_MS);
    if (records === undefined) throw new LockStoreError('STORE_UNREACHABLE', `no answer from ${store.name}`);
    return jobs.map((job) => this.#overviewOf(job, records.get(jobRecord(job.name))));
  }

  #overviewOf(job: Job, record: SeenRecord | undefined): JobOverview {
    const { clock, replica } = this.parts;
    const { name, schedule } = job;
    const { holder, pausedAt, run } = record?.value ?? {};
    const lease = holder === undefined ? undefined : leaseOf(holder);
    return {
      name,
      kind: schedule.kind,
      schedule: schedule.description,
      leader: lease !== undefined && replica.view.leases.has(lease) ? replicaOf(lease) : null,
      pausedAt: isoOf(pausedAt),
      nextTickAt: pausedAt === undefined ? isoOf(nextDue(schedule, run, clock.wallNow())) : null,
      lastRun: run === undefined ? null : shown(run),
    };
  }
}

function shown({ startedAt, endedAt, outcome, error, by }: RunRecord): JobOverview['lastRun'] {
  return {
    startedAt: new Date(startedAt).toISOString(),
    endedAt: isoOf(endedAt),
    outcome: outcome ?? null,
    error: error ?? null,
    by,
  };
}
