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
  /** The leader of each job that another replica led at the last look. */
  #followed: ReadonlyMap<string, string> = new Map();
  #hasWritten = false;
  /** The jobs that were paused at the last look, and since when. */
  #pauses: ReadonlyMap<string, number> = new Map();
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
    this.#lookAtLeaders();
    this.#lookAtPauses();
  }

  #lookAtLeaders(): void {
    const followed = new Map<string, string>();
    const changed = new Map<string, readonly string[]>();
    for (const { job, election } of this.parts.runners()) {
      const leader = election.term === undefined ? election.leader : undefined;
      if (leader === undefined) continue;
      followed.set(job.name, leader);
      if (this.#followed.get(job.name) === leader) continue;
      changed.set(leader, [...(changed.get(leader) ?? []), job.name]);
    }
    for (const [leader, jobs] of changed) {
      const line = `follows ${leader} for ${countOf(jobs)}; takes over when its lease ends`;
      this.#write(this.#hasWritten ? 'debug' : 'log', line);
    }
    this.#hasWritten ||= changed.size > 0;
    this.#followed = followed;
  }

  #lookAtPauses(): void {
    const pauses = new Map<string, number>();
    const begun: string[] = [];
    const ended: string[] = [];
    for (const { job, election } of this.parts.runners()) {
      const { name } = job;
      const { pausedAt } = election;
      const before = this.#pauses.get(name);
      if (pausedAt !== undefined) pauses.set(name, pausedAt);
      if (pausedAt !== undefined && pausedAt !== before) begun.push(`${name} since ${isoOf(pausedAt)}`);
      // a pause that the store has lost is a warning
      const isLost = before !== undefined && election.known.revision < before;
      if (pausedAt === undefined && before !== undefined && !isLost) ended.push(name);
    }
    if (begun.length > 0) this.#write('log', `paused on all replicas: ${countOf(begun)}; start one with resume()`);
    if (ended.length > 0) this.#write('log', `no longer paused on all replicas: ${countOf(ended)}`);
    this.#pauses = pauses;
  }

  #write(level: 'log' | 'debug', line: string): void {
    const { log, projectName } = this.parts;
    log[level](`[${projectName}] ${line}`);
  }
}

function countOf(jobs: readonly string[]): string {
  return `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'} (${listSome(jobs, MOST_NAMED)})`;
}
