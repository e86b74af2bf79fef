import { type LogSink, showDuration } from '../events/index.js';
import { type Election } from '../leadership/index.js';
import { listSome } from '../options/index.js';
import { replicaOf } from '../store/index.js';
import { type Clock, type Timer } from '../time/index.js';
import { type ManagedJob } from './job-supervisor.js';
import { isoOf } from './next-due.js';

/** A line names so many jobs. The others are a count. */
const MOST_NAMED = 10;

interface StatusLogParts {
  readonly jobs: () => readonly ManagedJob[];
  readonly clock: Clock;
  readonly log: LogSink;
  readonly projectName: string;
  readonly lookEveryMs: number;
}

/** Writes what no event says: which replicas this one follows, which jobs are paused, and which runs a stop waits for. */
export class StatusLog {
  /** The leader of each job that another replica led at the last look. */
  #followed: ReadonlyMap<string, string> = new Map();
  #hasWritten = false;
  /** The last line about a pause, by level and job. */
  readonly #written = new Map<string, string>();
  #timer: Timer | undefined;

  constructor(private readonly parts: StatusLogParts) {}

  /**
   * Looks at intervals which other replicas lead. What it finds first is one line for each leader at log level. Later changes are debug
   * lines. It also finds jobs that are paused on all replicas. Does nothing the second time.
   */
  start(): void {
    if (this.#timer === undefined) this.#lookLater();
  }

  /** Writes for which runs a stop waits, if any, and how long at most. Looks no more. */
  stop(abortAfterMs: number): void {
    this.#timer?.cancel();
    const runs = this.parts.jobs().flatMap(({ job, workers }) => {
      const elapsedMs = workers?.runner.elapsedMs;
      return elapsedMs === undefined ? [] : `${job.name} (running for ${showDuration(elapsedMs)})`;
    });
    if (runs.length === 0) return;
    const limit = `waiting up to ${showDuration(abortAfterMs)} for runs in flight, then aborting them`;
    this.#write('log', `stopping: ${limit}: ${listSome(runs, MOST_NAMED)}`);
  }

  #lookLater(): void {
    const { clock, lookEveryMs } = this.parts;
    this.#timer = clock.setTimer(lookEveryMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const followed = new Map<string, string>();
    const changed = new Map<string, { readonly jobs: string[]; readonly end: string }>();
    for (const { job, workers } of this.parts.jobs()) {
      if (workers !== undefined) this.#lookAtPause(job.name, workers.election);
      const holder = workers?.election.rival;
      if (holder === undefined) continue;
      const replica = replicaOf(holder);
      const leader = replica ?? `'${holder}'`;
      followed.set(job.name, leader);
      if (this.#followed.get(job.name) === leader) continue;
      // a holder that is not of this library has no session
      const found = changed.get(leader) ?? { jobs: [], end: replica === undefined ? 'lock expires' : 'session ends' };
      found.jobs.push(job.name);
      changed.set(leader, found);
    }
    for (const [leader, { jobs, end }] of changed) {
      const count = jobs.length === 1 ? '1 job' : `${jobs.length} jobs`;
      const line = `follows ${leader} for ${count} (${listSome(jobs, MOST_NAMED)}); takes over when its ${end}`;
      this.#write(this.#hasWritten ? 'debug' : 'log', line);
    }
    this.#hasWritten ||= changed.size > 0;
    this.#followed = followed;
  }

  #lookAtPause(name: string, { pausedAt, lostPausedAt }: Election): void {
    if (pausedAt !== undefined) {
      this.#writeOnce('log', name, `is paused on all replicas since ${isoOf(pausedAt)}; resume('${name}') starts it`);
    } else if (lostPausedAt !== undefined) {
      const what = `the pause since ${isoOf(lostPausedAt)} was lost with the data of Redis; the job runs again`;
      this.#writeOnce('warn', name, `${what}. Call pause('${name}') again if it must not`);
    }
  }

  #writeOnce(level: 'log' | 'warn', job: string, line: string): void {
    const key = `${level} ${job}`;
    if (this.#written.get(key) === line) return;
    this.#written.set(key, line);
    this.#write(level, line, job);
  }

  #write(level: 'log' | 'debug' | 'warn', line: string, job?: string): void {
    const { log, projectName } = this.parts;
    log[level](`[${job === undefined ? projectName : `${projectName}:${job}`}] ${line}`);
  }
}
