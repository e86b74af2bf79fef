import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DIST } from '../workspace/paths.js';
import { type Fact, parseMessage } from './facts.js';

const WORKER = join(DIST, 'apps/worker/apps/worker/src/main.js');

/**
 * A demo that was killed can stop nobody any more: its replicas notice that it is gone and stop themselves. The listener
 * alone would keep the channel, and with it a replica, alive.
 */
const STOP_WITH_PARENT = `
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel.unref();`;

export interface ReplicaOptions {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tell: (fact: Fact) => void;
  /** Takes the lines that the worker itself prints. */
  readonly log: (line: string) => void;
}

/** One real worker process. */
export class Replica {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process is gone and its last message has been told. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #tell: (fact: Fact) => void;
  #isLive = true;
  #isStopping = false;

  constructor({ name, env, tell, log }: ReplicaOptions) {
    this.#child = fork(WORKER, {
      env: { ...process.env, ...env, NODE_ID: name },
      // not those of this process, which make Node read TypeScript
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(STOP_WITH_PARENT)}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    if (this.#child.pid === undefined) throw new Error(`${WORKER} cannot be started`);
    this.name = name;
    this.pid = this.#child.pid;
    this.#tell = tell;
    this.#note('processStarted');
    this.#child.on('message', (message) => {
      const fact = parseMessage(message, { replica: name, pid: this.pid });
      if (fact !== undefined) tell(fact);
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface(stream).on('line', log);
    }
    this.ended = this.#untilEnded();
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Asks it to end, as a deploy does. Twice is fine. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#signal('SIGTERM', 'processStopping');
  }

  /** Ends it as a crash does. */
  kill(): void {
    this.#signal('SIGKILL', 'processKilled');
  }

  #signal(signal: NodeJS.Signals, event: 'processStopping' | 'processKilled'): void {
    if (!this.#isLive) return;
    this.#note(event);
    this.#child.kill(signal);
  }

  #note(event: 'processStarted' | 'processStopping' | 'processKilled'): void {
    this.#tell({ replica: this.name, pid: this.pid, atMs: Date.now(), event });
  }

  async #untilEnded(): Promise<void> {
    const place = { replica: this.name, pid: this.pid };
    const { code, signal, atMs } = await new Promise<{ code: number | null; signal: string | null; atMs: number }>(
      (resolve) => {
        this.#child.once('exit', (code, signal) => {
          this.#isLive = false;
          const end = { code, signal, atMs: Date.now() };
          // messages that it sent before may still be on their way; they have all arrived when everything is closed
          this.#child.once('close', () => {
            resolve(end);
          });
        });
      },
    );
    this.#tell({ ...place, atMs, event: 'processEnded', code, signal });
  }
}
