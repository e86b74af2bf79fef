import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guard } from '../guard.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A Redis, or a Valkey, that this machine can run. */
export interface RedisBinary {
  readonly path: string;
  /** The environment that it finds its libraries in. */
  readonly env: Environment;
  /** The first line of `--version`. */
  readonly version: string;
}

/** Undefined where the file does not run at all. */
export async function redisBinary(path: string, env: Environment = process.env): Promise<RedisBinary | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { env: { ...env } });
    return { path, env, version: stdout.trim().split('\n')[0] ?? '' };
  } catch {
    return undefined;
  }
}

/** Whether a `--version` line is of Redis 6.2 or later, or of any Valkey: the library's own minimum. */
export function isSupported(version: string): boolean {
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major !== undefined && minor !== undefined && major * 100 + minor >= 602;
}

/** One server that was started; it may still be on its way up. */
export interface RunningRedis {
  readonly pid: number;
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

/** Starts a server with its data and its log in `dir`. */
export function launch({ path, env }: RedisBinary, dir: string, args: readonly string[]): RunningRedis {
  const log = openSync(join(dir, 'redis.log'), 'a');
  const child = spawn(path, args, {
    cwd: dir,
    env: { ...env },
    stdio: ['ignore', log, log],
    // in a process group of its own: Ctrl-C is for the program that uses it, which stops it last
    detached: process.platform !== 'win32',
  });
  closeSync(log);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${path} cannot be started`);
  const guarded = guard(pid, dir);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      guarded.dismiss();
      resolve();
    });
  });
  // a server that was not stopped must not keep this process alive; the guard ends it
  child.unref();
  return {
    pid,
    exited,
    signal: (signal) => {
      child.ref();
      child.kill(signal);
    },
  };
}
