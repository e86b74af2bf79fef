import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { environmentIn, unpackDebian } from './debian-packages.js';

/** A program of a server that this machine can run. */
export interface Program {
  readonly path: string;
  /** The environment that it finds its libraries in. */
  readonly env: NodeJS.ProcessEnv;
  /** The first line of `--version`. */
  readonly version: string;
}

interface Wanted {
  readonly name: string;
  /** What its file is called; any of them will do. */
  readonly files: readonly string[];
  /** The chosen file, if it is not empty. No other is taken then. */
  readonly chosen?: string | undefined;
  /** Of Debian and Ubuntu. */
  readonly packages: readonly string[];
  readonly isSupported?: (version: string) => boolean;
  /** The rest of the message where there is none. */
  readonly howToInstall: string;
}

/** Where Debian's packages put the programs of servers; of PostgreSQL the newest first. */
function foldersIn(root: string): string[] {
  const postgres = join(root, 'usr/lib/postgresql');
  const versions = existsSync(postgres) ? readdirSync(postgres).sort((a, b) => Number(b) - Number(a)) : [];
  const bins = versions.map((one) => join(postgres, one, 'bin'));
  return [join(root, 'usr/bin'), join(root, 'usr/sbin'), ...bins];
}

/**
 * From the first of: the chosen file, the PATH, installed packages, packages of Debian or Ubuntu (fetched once, without
 * root).
 */
export async function findProgram(wanted: Wanted): Promise<Program> {
  const { name, chosen, packages, howToInstall } = wanted;
  if (chosen !== undefined && chosen !== '') {
    const program = await programAt(chosen, process.env);
    if (program === undefined) throw new Error(`${chosen} does not run`);
    return program;
  }
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const installed = await firstIn([...onPath, ...foldersIn('/')], wanted, process.env);
  if (installed !== undefined) return installed;
  const root = await unpackDebian(name, packages);
  const fetched = root === undefined ? undefined : await firstIn(foldersIn(root), wanted, await environmentIn(root));
  if (fetched !== undefined) return fetched;
  throw new Error(`No ${name}: none on the PATH, and none to be had as a Debian package. ${howToInstall}`);
}

async function firstIn(
  folders: readonly string[],
  { files, isSupported = () => true }: Wanted,
  env: NodeJS.ProcessEnv,
): Promise<Program | undefined> {
  for (const folder of folders) {
    for (const file of files) {
      const program = await programAt(join(folder, file), env);
      if (program !== undefined && isSupported(program.version)) return program;
    }
  }
  return undefined;
}

async function programAt(path: string, env: NodeJS.ProcessEnv): Promise<Program | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { env });
    return { path, env, version: stdout.trim().split('\n')[0] ?? '' };
  } catch {
    return undefined;
  }
}
