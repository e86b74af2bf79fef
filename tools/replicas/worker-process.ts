import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../workspace/paths.js';
import { type JobEvents } from 'nestjs-singleton-job';

/** What `npm run build -- worker` makes; the processes project builds it once for all specs. */
const WORKER = join(ROOT, 'dist/apps/worker/joined/main.js');

/** The same as users start it: file by file. */
export const WORKER_AS_BUILT = join(ROOT, 'dist/apps/worker/apps/worker/src/main.js');

/**
 * Process 1 of a container ignores a signal that nothing handles, so Nest's last one, to itself, ends nothing there.
 * With one more handler it is so here too: a worker that exits does it because nothing is left to do.
 */
const AS_PROCESS_ONE = ['--import', `data:text/javascript,for(const s of['SIGTERM','SIGINT'])process.on(s,()=>{})`];

const isWindows = process.platform === 'win32';

/**
 * On Windows every signal of another process kills, and so does Nest's last one to itself. There a message asks for the
 * handlers of a signal.
 */
const BY_MESSAGE = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`const { kill } = process;
    process.kill = (pid, signal) => pid === process.pid || kill(pid, signal);
    process.on('message', ({ signal }) => signal && process.emit(signal));
    process.channel.unref();`)}`,
];

/** Stops a worker whose parent was killed. The listener alone would keep the channel, and so the worker, alive. */
const STOPS_WITH_PARENT = [
  '--import',
  `data:text/javascript,process.once('disconnect',()=>process.${isWindows ? 'emit(' : 'kill(process.pid,'}'SIGTERM'));process.channel.unref()`,
];

/** Sets the wall clock of a process ahead, or back. */
function withClockAhead(aheadMs: number): string[] {
  if (aheadMs === 0) return [];
  const code = `const D=Date,now=()=>D.now()+(${aheadMs});globalThis.Date=class extends D{
    constructor(...a){super(...(a.length?a:[now()]))}static now(){return now()}}`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

/** A message of the event feed, as JSON leaves it. */
export interface WorkerEvent {
  readonly event: keyof JobEvents | 'ready';
  readonly payload?: WorkerEventPayload;
  readonly atMs: number;
  readonly node: string;
  readonly pid: number;
}

/** What payloads have in them, if they have it. */
export interface WorkerEventPayload {
  readonly job?: string;
  readonly fencingToken?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly confirmed?: boolean;
  readonly scheduledAt?: string;
  readonly from?: string;
  readonly to?: string;
  readonly count?: number;
  readonly code?: string;
  readonly durationMs?: number;
  readonly url?: string;
  /** Distinguishes the runs of a job in a process that may have several at once. */
  readonly run?: number;
}

/** What a program answers to `request()`. */
interface Answer {
  readonly answers: string;
  readonly value: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type WorkerVariables = Readonly<Record<string, string>>;

interface WorkerProcessOptions {
  /** The JavaScript file to run. A program other than the worker must send the same events. @default {@link WORKER} */
  readonly program?: string;
  /** Further arguments of Node. */
  readonly execArgv?: readonly string[];
  /** Whether it behaves as process 1 of a container. @default true */
  readonly isProcessOne?: boolean;
  /** Whether it stops itself when this process is gone. @default false */
  readonly stopsWithParent?: boolean;
  /** How far its wall clock is ahead of this process. @default 0 */
  readonly clockAheadMs?: number;
  readonly onEvent?: (event: WorkerEvent) => void;
}

/**
 * One real process of `apps/worker`, or of another program with the same event feed, with all its events and output.
 */
export class WorkerProcess {
  readonly events: WorkerEvent[] = [];
  /** What it prints, on both streams, and when. */
  readonly lines: { readonly atMs: number; readonly text: string }[] = [];
  readonly exited: Promise<Exit>;
  /** When it ended; Infinity while it runs. */
  exitedAtMs = Infinity;
  readonly #child: ChildProcess;

  constructor(
    readonly node: string,
    variables: WorkerVariables,
    options: WorkerProcessOptions = {},
  ) {
    const {
      program = WORKER,
      execArgv = [],
      isProcessOne = true,
      stopsWithParent = false,
      clockAheadMs = 0,
      onEvent,
    } = options;
    this.#child = fork(program, [], {
      // nothing of the shell that runs the tests: only what a spec says configures the worker
      env: { PATH: process.env['PATH'], SINGLETON_JOB_NODE_ID: node, ...variables },
      execArgv: [
        ...(isProcessOne ? AS_PROCESS_ONE : []),
        ...(isWindows ? BY_MESSAGE : []),
        ...(stopsWithParent ? STOPS_WITH_PARENT : []),
        ...withClockAhead(clockAheadMs),
        ...execArgv,
      ],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.on('message', (message) => {
      if (isAnswer(message)) return;
      const sent = message as unknown as WorkerEvent;
      const event = { ...sent, atMs: sent.atMs - clockAheadMs };
      this.events.push(event);
      onEvent?.(event);
    });
    const streams = [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null);
    for (const input of streams) {
      createInterface({ input }).on('line', (text) => {
        if (text !== '') this.lines.push({ atMs: Date.now(), text });
      });
    }
    this.#child.once('exit', () => (this.exitedAtMs = Date.now()));
    const exit = once(this.#child, 'exit') as Promise<[Exit['code'], Exit['signal']]>;
    // its last events and lines may arrive after 'exit'; 'close' never comes if the parent has disconnected
    const drained = [once(this.#child, 'disconnect'), ...streams.map((stream) => once(stream, 'end'))];
    this.exited = Promise.all([exit, ...drained]).then(([[code, signal]]) => ({ code, signal }));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isReady(): boolean {
    return this.events.some(({ event }) => event === 'ready');
  }

  /** Where it answers, once it is ready. */
  get url(): string {
    const { payload } = this.events.find(({ event }) => event === 'ready') ?? {};
    if (payload?.url === undefined) throw new Error(`worker ${this.node} is not ready`);
    return payload.url;
  }

  get hasExited(): boolean {
    return this.exitedAtMs !== Infinity;
  }

  /** Sends the signal to stop, and waits for the exit. */
  stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<Exit> {
    if (!isWindows) this.#child.kill(signal);
    else if (this.#child.connected) this.#child.send({ signal });
    return this.exited;
  }

  /** Stops its threads, as a debugger or an overloaded host does, until `resume()`. Answers when. */
  suspend(): number {
    this.#child.kill('SIGSTOP');
    return Date.now();
  }

  resume(): number {
    this.#child.kill('SIGCONT');
    return Date.now();
  }

  /** Sends a question that its program answers. Rejects if the process ends before it answers. */
  request<T>(question: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: unknown): void => {
        if (!isAnswer(message) || message.answers !== question) return;
        this.#child.off('message', onMessage);
        resolve(message.value as T);
      };
      this.#child.on('message', onMessage);
      void this.exited.then(() => {
        reject(new Error(`${this.node} ended before it answered '${question}'`));
      });
      if (this.#child.connected) this.#child.send({ question });
    });
  }

  /** Ends it as a crash does. */
  kill(): Promise<Exit> {
    this.#child.kill('SIGKILL');
    return this.exited;
  }
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'answers' in message;
}
