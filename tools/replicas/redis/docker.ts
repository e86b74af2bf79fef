import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type ControlSignal,
  type Launch,
  type RedisBinary,
  type RunningRedis,
  serverArguments,
} from './redis-binary.js';

const run = promisify(execFile);
const IMAGE = 'redis:7-alpine';

const COMMANDS: Readonly<Record<ControlSignal, readonly string[]>> = {
  SIGTERM: ['stop', '--time', '5'],
  SIGKILL: ['kill'],
  SIGSTOP: ['pause'],
  SIGCONT: ['unpause'],
};

/** Redis in a container, where an engine answers within two seconds; the image is fetched at the first start. */
export async function dockerRedis(): Promise<RedisBinary | undefined> {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 2_000 });
  } catch {
    return undefined;
  }
  await run('docker', ['pull', '--quiet', IMAGE]);
  return { source: `docker image ${IMAGE}`, launch: start };
}

/** The arguments of `docker` for one server. */
export function containerArguments(name: string, { port, dir, args, configFile }: Launch): string[] {
  const publish = `127.0.0.1:${String(port)}:${String(port)}`;
  const container = ['run', '--rm', '--name', name, '--publish', publish, '--volume', `${dir}:/data`, IMAGE];
  const settings = configFile === undefined ? [] : [`/data/${configFile}`];
  return [...container, 'redis-server', ...settings, '--protected-mode', 'no', ...serverArguments({ port, args })];
}

function start(launch: Launch): RunningRedis {
  const name = `singleton-job-${randomUUID()}`;
  const client = spawn('docker', containerArguments(name, launch), { stdio: 'ignore' });
  if (client.pid === undefined) throw new Error('docker cannot be started');
  const exited = new Promise<void>((resolve) => {
    client.once('exit', () => {
      resolve();
    });
  });
  return {
    pid: client.pid,
    reportedPid: 1,
    exited,
    signal: async (signal) => {
      // a container that has ended meanwhile is what a stop or a kill wants
      await run('docker', [...COMMANDS[signal], name]).catch(() => undefined);
    },
  };
}
