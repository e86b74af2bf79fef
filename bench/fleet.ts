import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchEvent, nowMs, type ReplicaMessage, type ReplicaSettings } from './events.js';
import { until } from '../tools/replicas/until.js';
import { type Freeze, type History } from './history.js';

export type FleetSettings = Omit<ReplicaSettings, 'nodes'>;

const running = new Set<ChildProcess>();

// Also after an error or Ctrl-C. SIGKILL ends a process that is stopped as well.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A child process with one or more replicas. */
export class ReplicaProcess {
  readonly #child: ChildProcess;
  /** When it was killed; undefined while it lives. */
  killedAtMs: number | undefined;

  constructor(
    readonly settings: ReplicaSettings,
    onEvent: (event: BenchEvent) => void,
    onCrash: (error: Error) => void,
  ) {
    this.#child = fork(join(import.meta.dirname, 'replica.ts'), [], {
      env: { ...process.env, BENCH_REPLICA: JSON.stringify(settings) },
      execArgv: ['--import', 'tsx'],
    });
    running.add(this.#child);
    this.#child.on('message', (message: ReplicaMessage) => {
      if (message.type !== 'cpu') onEvent(message);
    });
    this.#child.once('exit', (code) => {
      running.delete(this.#child);
      if (this.killedAtMs === undefined) onCrash(new Error(`a replica process ended with ${String(code)}`));
    });
  }

  kill(): void {
    this.killedAtMs = nowMs();
    this.#child.kill('SIGKILL');
  }

  suspend(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** The CPU time that it has used since it started. */
  async cpuMs(): Promise<number> {
    this.#child.send('cpu');
    for (;;) {
      const [message] = (await once(this.#child, 'message')) as [ReplicaMessage];
      if (message.type === 'cpu') return message.cpuMs;
    }
  }
}

/** The replica processes of one measurement and everything that they report. */
export class Fleet implements Disposable {
  readonly events: BenchEvent[] = [];
  readonly #processes: ReplicaProcess[] = [];
  readonly #leaders = new Map<string, string>();
  readonly #freezes: Freeze[] = [];
  #crash: Error | undefined;
  #started = 0;

  constructor(readonly settings: FleetSettings) {}

  /** Starts processes with `replicas` replicas in all, and resolves when all of them are ready. */
  async start(replicas: number, perProcess = 1): Promise<void> {
    const wanted = this.#started + replicas;
    while (this.#started < wanted) {
      const count = Math.min(perProcess, wanted - this.#started);
      const nodes = Array.from({ length: count }, () => `r${++this.#started}`);
      const onEvent = (event: BenchEvent): void => {
        this.#record(event);
      };
      const onCrash = (error: Error): void => {
        this.#crash = error;
      };
      this.#processes.push(new ReplicaProcess({ ...this.settings, nodes }, onEvent, onCrash));
    }
    await this.until('all replicas are ready', () => this.count('ready') === wanted);
  }

  /** The process that leads a job, as its replicas reported it. */
  leaderOf(job: string): ReplicaProcess | undefined {
    const node = this.#leaders.get(job);
    return this.#processes.find(({ settings, killedAtMs }) => {
      return killedAtMs === undefined && settings.nodes.some((name) => name === node);
    });
  }

  /** Resolves when every job has a leader. */
  async untilAllLed(): Promise<void> {
    const { jobs } = this.settings;
    await this.until('every job has a leader', () => jobs.every(({ name }) => this.leaderOf(name) !== undefined));
  }

  /** Resolves with the leader of the probe job when it has just started a run. A random part of that run has passed then. */
  async leaderInMidRun(): Promise<ReplicaProcess> {
    const event = await this.next('a run of the probe job', ({ type, node, ...rest }) => {
      return type === 'started' && 'job' in rest && rest.job === 'probe' && node === this.#leaders.get('probe');
    });
    await delay(Math.random() * 120);
    const leader = this.leaderOf('probe');
    return leader?.settings.nodes.includes(event.node) === true ? leader : this.leaderInMidRun();
  }

  /** The first event from now on, or since `afterMs`, that `matches`. */
  async next(what: string, matches: (event: BenchEvent) => boolean, afterMs = nowMs()): Promise<BenchEvent> {
    let seen = this.events.findIndex(({ atMs }) => atMs >= afterMs - 1_000);
    if (seen < 0) seen = this.events.length;
    let found: BenchEvent | undefined;
    await this.until(what, () => {
      for (; seen < this.events.length && found === undefined; seen++) {
        const event = this.events[seen];
        if (event !== undefined && event.atMs >= afterMs && matches(event)) found = event;
      }
      return found !== undefined;
    });
    return found as unknown as BenchEvent;
  }

  count(type: BenchEvent['type'], sinceMs = 0): number {
    return this.events.filter((event) => event.type === type && event.atMs >= sinceMs).length;
  }

  /** Notes that the replicas of a process stood still. */
  noteFreeze({ settings }: ReplicaProcess, fromMs: number, toMs: number): void {
    for (const node of settings.nodes) this.#freezes.push({ node, fromMs, toMs });
  }

  history(): History {
    const dead = this.#processes.flatMap(({ settings, killedAtMs }) => {
      return killedAtMs === undefined ? [] : settings.nodes.map((node) => [node, killedAtMs] as const);
    });
    return { events: this.events, deaths: new Map(dead), freezes: this.#freezes };
  }

  until(what: string, isSo: () => boolean, withinMs = 90_000): Promise<void> {
    const holds = (): boolean => {
      if (this.#crash !== undefined) throw this.#crash;
      return isSo();
    };
    return until(what, holds, { withinMs });
  }

  /** Kills all of its processes. */
  [Symbol.dispose](): void {
    for (const child of this.#processes) child.kill();
  }

  #record(event: BenchEvent): void {
    this.events.push(event);
    if (event.type === 'gained') this.#leaders.set(event.job, event.node);
    const isOver = event.type === 'lost' || event.type === 'released';
    if (isOver && this.#leaders.get(event.job) === event.node) this.#leaders.delete(event.job);
  }
}
