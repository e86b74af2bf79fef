import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from '../replicas/busy-machine.js';
import { type Program } from './program.js';
import { type NOBODY, ServerProcess } from './server-process.js';

/**
 * A private server on a free loopback port. It can be shut down, killed, hung and started again, and ends with this
 * process.
 */
export abstract class OwnServer implements AsyncDisposable {
  /** More of its environment, from its next start on. */
  variables: NodeJS.ProcessEnv = {};
  #running: ServerProcess | undefined;
  protected readonly shutdownSignal: NodeJS.Signals = 'SIGINT';

  constructor(
    protected readonly program: Program,
    protected readonly dir: string,
    readonly port: number,
    private readonly user: Partial<typeof NOBODY> = {},
  ) {}

  /** What `connection` of the library takes. */
  abstract get url(): string;

  protected abstract arguments(): readonly string[];

  /** Whether this process answers on the port, and not that of another program. */
  protected abstract isAnswering(pid: number): Promise<boolean>;

  /** Which server this is, for one line of a log. */
  get source(): string {
    return `${this.program.path} (${this.program.version})`;
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** Starts a server that is down, on the same port; does nothing to one that is up. Resolves once it answers. */
  async up(): Promise<void> {
    if (this.#running !== undefined) return;
    const program = { ...this.program, env: { ...this.program.env, ...this.variables } };
    const running = new ServerProcess(program, this.arguments(), this.dir, this.user);
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!(await this.isAnswering(running.pid))) {
      if (running.hasExited || performance.now() > giveUpAt) {
        running.signalAll('SIGKILL');
        throw new Error(`${this.source} did not start on port ${String(this.port)}:\n${await this.log()}`);
      }
      await delay(10);
    }
    this.#running = running;
  }

  /** Shuts it down: it ends all connections, and its data is kept. */
  down(): Promise<void> {
    return this.end(this.shutdownSignal);
  }

  async restart(): Promise<void> {
    await this.down();
    await this.up();
  }

  /** Ends it as a crash does. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Hangs it: connections stay open and are accepted, and nothing is answered until `resume()`. */
  pause(): Promise<void> {
    this.#running?.signalAll('SIGSTOP');
    return Promise.resolve();
  }

  resume(): Promise<void> {
    this.#running?.signalAll('SIGCONT');
    return Promise.resolve();
  }

  log(): Promise<string> {
    return readFile(join(this.dir, 'log'), 'utf8');
  }

  /** Ends it for good and removes its files. Twice is fine, and so is a paused or a killed one. */
  async stop(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  protected async end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.end(signal);
  }
}

/** A folder for the files of a server. */
export function ownFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `singleton-job-${name}-`));
}
