import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './paths.js';

interface CommandOptions {
  /** @default the root of the checkout */
  readonly cwd?: string;
  /** Added to the environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends the command and all that it started after this long; it has failed then. @default no limit */
  readonly limitMs?: number;
  /** Lets it write to our own terminal; nothing is collected then. @default false */
  readonly isShown?: boolean;
}

export interface CommandResult {
  /** Undefined where it was ended by a signal. */
  readonly code: number | undefined;
  /** Both streams, in the order of their arrival. */
  readonly output: string;
}

/** Runs a program and collects what it prints. Resolves with any exit code. Rejects only if the program cannot be started. */
export function attempt(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(program, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
    stdio: options.isShown === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    // a group of its own can be ended as a whole
    detached: options.limitMs !== undefined,
  });
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const limit = options.limitMs === undefined ? undefined : setTimeout(end, options.limitMs);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    for (const stream of streams(child)) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      resolve({ code: code ?? undefined, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

/** Runs a program; rejects with all it printed where it ends with another code than 0. */
export async function run(program: string, args: readonly string[], options?: CommandOptions): Promise<string> {
  const { code, output } = await attempt(program, args, options);
  if (code === 0) return output;
  throw new Error(`${[program, ...args].join(' ')} ended with ${String(code ?? 'a signal')}:\n${output}`);
}

/** Runs the script of a development dependency with this Node, such as `node('typescript/bin/tsc', ['--noEmit'])`. */
export function node(script: string, args: readonly string[], options?: CommandOptions): Promise<string> {
  return run(process.execPath, [join(ROOT, 'node_modules', script), ...args], options);
}

/** Runs a tool of this folder, such as `tool('pack.ts')`. */
export function tool(file: string, args: readonly string[] = [], options?: CommandOptions): Promise<string> {
  return node('tsx/dist/cli.mjs', [join(ROOT, 'tools', file), ...args], options);
}

/** Runs npm: the one that started this tool, or the one on the PATH. It prints its errors also within a silent npm. */
export function npm(args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const script = process.env['npm_execpath'];
  const loud = { ...options, env: { npm_config_loglevel: 'error', ...options.env } };
  if (script?.endsWith('.js')) return run(process.execPath, [script, ...args], loud);
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, loud);
}

function streams({ stdout, stderr }: ChildProcess): NodeJS.ReadableStream[] {
  return [stdout, stderr].filter((stream) => stream !== null);
}
