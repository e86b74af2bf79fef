import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Program } from './program.js';

/** Some servers refuse to run as root. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Kills a process when its input ends, and removes a folder. */
const GUARD = 'cat >/dev/null; kill -9 "$1" 2>/dev/null; sleep 0.2; rm -rf "$2"';

/**
 * A server in the background, with its log in a folder. It and the folder end with this process, also after a SIGKILL.
 */
export class ServerProcess {
  readonly pid: number;
  hasExited = false;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor({ path, env }: Program, args: readonly string[], dir: string, user: Partial<typeof NOBODY> = {}) {
    const log = openSync(join(dir, 'log'), 'a');
    // in a process group of its own: Ctrl-C is for the program that uses it, which stops it last
    const options = { ...user, cwd: dir, env, detached: true } as const;
    this.#child = spawn(path, args, { ...options, stdio: ['ignore', log, log] });
    closeSync(log);
    if (this.#child.pid === undefined) throw new Error(`${path} cannot be started`);
    this.pid = this.#child.pid;
    // a small shell waits for the end of a pipe that only this process holds open
    const guard = spawn('sh', ['-c', GUARD, 'server-guard', String(this.pid), dir], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    guard.stdin.on('error', () => undefined);
    this.#exited = once(this.#child, 'exit').then(() => {
      this.hasExited = true;
      // a later process may have its id
      guard.kill('SIGKILL');
    });
    // neither keeps this process alive
    guard.unref();
    this.#child.unref();
  }

  /** To it and to its children, such as one for each connection. */
  signalAll(signal: NodeJS.Signals): void {
    for (const pid of [this.pid, ...childrenOf(this.pid)]) {
      try {
        process.kill(pid, signal);
      } catch {
        // it has ended meanwhile
      }
    }
  }

  /** Resolves when it has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.ref();
    // a process that hangs does not shut down
    this.signalAll('SIGCONT');
    if (signal === 'SIGKILL') this.signalAll(signal);
    else this.#child.kill(signal);
    await this.#exited;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}
