import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { ROOT } from './paths.js';

interface CommandOptions {
  /** @default the root of the checkout */
  readonly cwd?: string;
  /** Added to the environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Lets it write to our own terminal; nothing is collected then. @default false */
  readonly isShown?: boolean;
}

export interface CommandResult {
  /** Undefined where it was ended by a signal. */
  readonly code: number | undefined;
  /** Both streams, in the order of their arrival. */
  readonly output: string;
}

/**
 * Runs a program and collects what it prints. Resolves with any exit code. Rejects only if the program cannot be
 * started.
 */
export async function attempt(
  program: string,
  args: readonly string[],
  { cwd = ROOT, env, isShown = false }: CommandOptions = {},
): Promise<CommandResult> {
  const stdio = isShown ? 'inherit' : 'pipe';
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', stdio, stdio],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? undefined, output };
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

/** Windows starts no `npm.cmd` without a shell. The file of npm lies beside Node there. */
const NPM =
  process.platform === 'win32'
    ? [process.execPath, join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js')]
    : ['npm'];

/** Runs npm, which prints its errors also within a silent npm. */
export function npm(args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const [program = '', ...script] = NPM;
  return run(program, [...script, ...args], { ...options, env: { npm_config_loglevel: 'error', ...options.env } });
}
