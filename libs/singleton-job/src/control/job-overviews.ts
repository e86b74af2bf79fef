import { LockStoreError } from '../base/errors/lock-store.error.js';
import { isoOf } from '../base/time/iso-of.js';
import { unlessAborted } from '../base/time/unless-aborted.js';
import { type Job } from '../jobs/job.js';
import { type Replica } from '../leadership/replica.js';
import { type JobPool } from '../runs/job-pool.js';
import { readLastRun, type RecordedRun } from '../runs/last-run.js';
import { type LockOverview } from '../store/lock-store.js';
import { type JobOverview } from './job-status.js';
import { leaderOf } from './leader-of.js';

const BATCH = 100;
const LIMIT_MS = 2_000;
/** A page that many people watch costs one read in this time. */
const CACHE_MS = 2_000;

/** What the store knows of all jobs, whichever replica leads them. */
export class JobOverviews {
  #cached: { readonly atMs: number; readonly result: Promise<readonly JobOverview[]> } | undefined;

  constructor(
    private readonly replica: Replica,
    private readonly pool: JobPool,
  ) {}

  /** @throws LockStoreError when the store has not answered */
  read(): Promise<readonly JobOverview[]> {
    const now = this.replica.context.clock.now();
    if (this.#cached !== undefined && now - this.#cached.atMs < CACHE_MS) return this.#cached.result;
    const result = this.#read();
    this.#cached = { atMs: now, result };
    // an error is not kept
    result.catch(() => (this.#cached = undefined));
    return result;
  }

  async #read(): Promise<readonly JobOverview[]> {
    const jobs = this.pool.jobs.map(({ job }) => job);
    const { client, clock } = this.replica.context;
    this.replica.open();
    return client.withTimeout(LIMIT_MS, async (signal) => {
      const overviews: JobOverview[] = [];
      for (let i = 0; i < jobs.length; i += BATCH) {
        const some = jobs.slice(i, i + BATCH);
        const reading = client.store.readLocks?.(some.map(({ name }) => name)) ?? Promise.resolve([]);
        const locks = await unlessAborted(reading, signal);
        if (locks === undefined) throw new LockStoreError('STORE_UNREACHABLE', `no answer from ${client.store.name}`);
        overviews.push(...some.map((job, at) => overviewOf(job, locks.value[at], clock.wallNow())));
      }
      return overviews;
    });
  }
}

function overviewOf(job: Job, lock: LockOverview | undefined, wallNow: number): JobOverview {
  const { name, schedule } = job;
  const run = readLastRun(lock?.lastRun);
  const isPaused = lock?.pausedAt !== undefined;
  return {
    name,
    kind: schedule.kind,
    schedule: schedule.description,
    leader: leaderOf(lock?.holder),
    pausedAt: isoOf(lock?.pausedAt),
    nextTickAt: isPaused ? null : isoOf(nextOf(job, run, wallNow)),
    lastRun: run === undefined ? null : shown(run),
  };
}

/** For an interval only after its last run was recorded. */
function nextOf({ schedule }: Job, run: RecordedRun | undefined, wallNow: number): number | undefined {
  if (schedule.kind !== 'interval') return schedule.next(wallNow);
  return run?.endedAt === undefined ? undefined : Math.max(schedule.next(run.endedAt), wallNow);
}

function shown({ startedAt, endedAt, outcome, error, by, recordedAt }: RecordedRun): JobOverview['lastRun'] {
  return {
    startedAt: new Date(startedAt).toISOString(),
    endedAt: isoOf(endedAt),
    outcome: outcome ?? null,
    error: error ?? null,
    by,
    recordedAt: new Date(recordedAt).toISOString(),
  };
}
