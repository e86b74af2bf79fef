import { type WorkerEvent, WorkerProcess, type WorkerVariables } from '../replicas/worker-process.js';
import { Workers } from '../replicas/workers.js';

export const NODES = ['A', 'B', 'C'] as const;

/** Short, so that the jobs of a killed leader go on within a second. The default is 10 s. */
export const LOCK_EXPIRY = '800ms';

/** How often daily-report is due in the demo. */
export const DAY_MS = 3_000;

/** Everything is quick, so that a hand-over fits into a demo. */
const SETTINGS = {
  SINGLETON_JOB_LOCK_EXPIRY: LOCK_EXPIRY,
  SINGLETON_JOB_SHUTDOWN_TIMEOUT: '3s',
  SINGLETON_JOB_JOBS__HEARTBEAT__DELAY: '1s',
  SINGLETON_JOB_JOBS__PRICE_TICK__PERIOD: '500ms',
  PRICE_TICK_SLOW_EVERY: '5',
  PRICE_TICK_SLOW_FOR: '1200ms',
  SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: `*/${DAY_MS / 1_000} * * * * *`,
  SINGLETON_JOB_JOBS__DAILY_REPORT__TIME_ZONE: 'UTC',
  DAILY_REPORT_TAKES: '400ms',
  SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: LOCK_EXPIRY,
};

/** The shutdown timeout above, and the time that a process needs to exit. */
const STOP_LIMIT_MS = 8_000;

/** What happened to the process of a replica: it was sent a SIGTERM or a SIGKILL, or it exited. */
interface ProcessEvent {
  readonly event: 'stopping' | 'killed' | 'exited';
  readonly node: string;
  readonly atMs: number;
  /** Null after a signal. */
  readonly exitCode?: number | null;
  readonly pid?: undefined;
  readonly payload?: undefined;
}

export type ReplicaEvent = WorkerEvent | ProcessEvent;

/** The replicas of the demo and all their events. */
export class Replicas {
  /** In the order of their arrival. */
  readonly events: ReplicaEvent[] = [];
  readonly #processes: WorkerProcess[] = [];

  constructor(
    private readonly variables: WorkerVariables,
    private readonly timeline: { add(event: ReplicaEvent): void },
  ) {}

  /** All processes so far, to wait for them and to read their runs. */
  get workers(): Workers {
    return Workers.of(...this.#processes);
  }

  /** The latest process of a replica. */
  find(node: string): WorkerProcess {
    const worker = this.#processes.findLast((process) => process.node === node);
    if (worker === undefined) throw new Error(`replica ${node} was never started`);
    return worker;
  }

  /** Starts a replica, also one that has exited before. */
  start(node: string): WorkerProcess {
    const variables = { ...SETTINGS, ...this.variables };
    const worker = new WorkerProcess(node, variables, { stopsWithParent: true, onEvent: this.#add });
    this.#processes.push(worker);
    void worker.exited.then(({ code }) => {
      this.#add({ event: 'exited', node, atMs: worker.exitedAtMs, exitCode: code });
    });
    return worker;
  }

  stop(worker: WorkerProcess): void {
    this.#add({ event: 'stopping', node: worker.node, atMs: Date.now() });
    void worker.stop();
  }

  kill(worker: WorkerProcess): void {
    this.#add({ event: 'killed', node: worker.node, atMs: Date.now() });
    void worker.kill();
  }

  /** Stops the running replicas, and kills those that do not exit in time. */
  async stopAll(): Promise<void> {
    const { running } = this.workers;
    const timer = setTimeout(() => {
      for (const worker of running) if (!worker.hasExited) this.kill(worker);
    }, STOP_LIMIT_MS);
    for (const worker of running) this.stop(worker);
    await Promise.all(this.workers.all.map(({ exited }) => exited));
    clearTimeout(timer);
  }

  readonly #add = (event: ReplicaEvent): void => {
    this.events.push(event);
    this.timeline.add(event);
  };
}
