import { type LogSink } from '../base/events/logging-observer.js';
import { type ScheduleKind } from '../base/events/run-info.js';
import { showDuration } from '../base/events/show-duration.js';
import { listSome } from '../base/text/describe-value.js';
import { type Clock, type Timer } from '../base/time/clock.js';
import { type JobRunner } from './job-runner.js';
import { isoOf } from '../base/time/iso-of.js';

/** A line names so many jobs. The others are a count. */
const MOST_NAMED = 10;
/** What the last part of a stop for runs, after their abort, takes as well. */
const SETTLE_MS = 1_000;

interface StatusLogParts {
  readonly runners: () => readonly JobRunner[];
  readonly clock: Clock;
  readonly log: LogSink;
  readonly projectName: string;
  readonly lookEveryMs: number;
}

/** Writes what no event says: which replicas this one follows, which jobs are paused, and which runs a stop waits for. */
export class StatusLog {
  /** Which other replica led each job at the last look, and since when it was paused. */
  readonly #seen = new Map<string, { readonly leader: string | undefined; readonly pausedAt: number | undefined }>();
  #hasFollowed = false;
  #timer: Timer | undefined;

  constructor(private readonly parts: StatusLogParts) {}

  /**
   * Looks at intervals which other replicas lead. What it finds first is one line for each leader at log level. Later changes are debug
   * lines. It also finds which jobs are paused on all replicas, and which no longer are. Does nothing the second time.
   */
  start(): void {
    if (this.#timer === undefined) this.#lookLater();
  }

  /**
   * Writes for which runs a stop waits, if any, and how long at most. A run of `@WhileLeader`, whose signal fires at once, has a second to
   * end. Looks no more.
   */
  stop(abortAfterMs: number): void {
    this.#timer?.cancel();
    const limit = `up to ${showDuration(abortAfterMs)}`;
    this.#writeRuns(`waiting ${limit} for runs in flight, then aborting them`, (kind) => kind !== 'while-leader');
    this.#timer = this.parts.clock.setTimer(SETTLE_MS, () => {
      this.#writeRuns(`waiting ${limit} more for runs whose signal has fired`, (kind) => kind === 'while-leader');
    });
  }

  /** The stop waits for no run any more. */
  close(): void {
    this.#timer?.cancel();
  }

  #writeRuns(what: string, isWanted: (kind: ScheduleKind) => boolean): void {
    const runs = this.parts.runners().flatMap(({ job, runs: { inFlight } }) => {
      const isShown = inFlight !== undefined && isWanted(job.schedule.kind);
      return isShown ? `${job.name} (running for ${showDuration(inFlight.elapsedMs)})` : [];
    });
    if (runs.length > 0) this.#write('log', `stopping: ${what}: ${listSome(runs, MOST_NAMED)}`);
  }

  #lookLater(): void {
    const { clock, lookEveryMs } = this.parts;
    this.#timer = clock.setTimer(lookEveryMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const followed = new Map<string, readonly string[]>();
    const paused: string[] = [];
    const resumed: string[] = [];
    for (const { job, election } of this.parts.runners()) {
      const { name } = job;
      const { pausedAt, known } = election;
      const leader = election.term === undefined ? election.leader : undefined;
      const before = this.#seen.get(name);
      this.#seen.set(name, { leader, pausedAt });
      if (leader !== undefined && leader !== before?.leader)
        followed.set(leader, [...(followed.get(leader) ?? []), name]);
      if (pausedAt !== undefined && pausedAt !== before?.pausedAt) paused.push(`${name} since ${isoOf(pausedAt)}`);
      // a pause that the store has lost is a warning
      if (pausedAt === undefined && known.revision >= (before?.pausedAt ?? Infinity)) resumed.push(name);
    }
    for (const [leader, jobs] of followed) {
      const line = `follows ${leader} for ${countOf(jobs)}; takes over when its lease ends`;
      this.#write(this.#hasFollowed ? 'debug' : 'log', line);
    }
    this.#hasFollowed ||= followed.size > 0;
    if (paused.length > 0) this.#write('log', `paused on all replicas: ${countOf(paused)}; start one with resume()`);
    if (resumed.length > 0) this.#write('log', `no longer paused on all replicas: ${countOf(resumed)}`);
  }

  #write(level: 'log' | 'debug', line: string): void {
    const { log, projectName } = this.parts;
    log[level](`[${projectName}] ${line}`);
  }
}

function countOf(jobs: readonly string[]): string {
  return `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'} (${listSome(jobs, MOST_NAMED)})`;
}
