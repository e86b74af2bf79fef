import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guard } from './guard.js';
import { type Launch, type RedisBinary, type RunningRedis, serverArguments } from './redis-binary.js';

const run = promisify(execFile);

type Environment = Readonly<Record<string, string | undefined>>;

/** The first line of `--version`, or undefined where the file does not run at all. */
export async function versionOf(path: string, env: Environment = process.env): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { env: { ...env } });
    return stdout.trim().split('\n')[0];
  } catch {
    return undefined;
  }
}

/** Whether a `--version` line is of Redis 6.2 or later, or of any Valkey: the library's own minimum. */
export function isSupported(version: string): boolean {
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major !== undefined && minor !== undefined && major * 100 + minor >= 602;
}

/** A server binary in the file system. */
export function executable(path: string, source: string, env: Environment = process.env): RedisBinary {
  return { source, executable: { path, env }, launch: (launch) => start(path, env, launch) };
}

function start(path: string, env: Environment, launch: Launch): RunningRedis {
  const log = openSync(join(launch.dir, 'redis.log'), 'a');
  const configFile = launch.configFile === undefined ? [] : [join(launch.dir, launch.configFile)];
  const child = spawn(path, [...configFile, '--bind', '127.0.0.1', '--dir', launch.dir, ...serverArguments(launch)], {
    env: { ...env },
    stdio: ['ignore', log, log],
    // in a process group of its own: Ctrl-C is for the program that uses it, which stops it last
    detached: process.platform !== 'win32',
  });
  closeSync(log);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${path} cannot be started`);
  const guarded = guard(pid, launch.dir);
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
    reportedPid: pid,
    exited,
    signal: (signal) => {
      child.ref();
      child.kill(signal);
      return Promise.resolve();
    },
  };
}
