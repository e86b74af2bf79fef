import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { run } from '../workspace/command.js';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const NEEDS = 'Debian or Ubuntu on x64, with apt-get, dpkg-deb and the package debian-archive-keyring';

export interface DebianProgram {
  readonly name: string;
  readonly program: string;
  /** @default sid, the unstable one */
  readonly suite?: string;
  /** Its last arguments. ROOT is the folder of the packages. */
  readonly args?: string;
}

/**
 * A program of another suite of Debian, with its libraries in a folder of its own: nothing is installed, and no root
 * is needed. Answers a script that starts it with the loader of its own libc.
 */
export async function debianProgram(
  folder: string,
  { name, program, suite = 'sid', args = '' }: DebianProgram,
): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(KEYRING))
    throw new Error(`${name} comes from Debian's suite ${suite}. This needs ${NEEDS}`);
  const root = join(folder, 'root');
  if (!existsSync(root)) await unpack(folder, root, name, suite);
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
  const path = [libraries, join(root, 'usr/lib/mysql/private')].join(':');
  // one file may be several programs, by the name that it is started with
  const start = `exec ${libraries}/ld-linux-x86-64.so.2 --library-path ${path} --argv0 ${basename(program)}`;
  const script = join(root, 'usr/start', basename(program));
  await mkdir(join(root, 'usr/start'), { recursive: true });
  const text = `#!/bin/sh\n${start} ${await realpath(join(root, program))} "$@" ${args.replaceAll('ROOT', root)}\n`;
  await writeFile(script, text, { mode: 0o755 });
  return script;
}

async function unpack(folder: string, root: string, name: string, suite: string): Promise<void> {
  const work = join(folder, 'apt');
  await rm(work, { recursive: true, force: true });
  for (const part of ['lists/partial', 'archives/partial', 'root']) await mkdir(join(work, part), { recursive: true });
  await writeFile(
    join(work, 'sources.list'),
    `deb [signed-by=${KEYRING}] http://deb.debian.org/debian ${suite} main\n`,
  );
  // without a package, so that all libraries are fetched
  await writeFile(join(work, 'status'), '');
  const settings = [
    `Dir::Etc::SourceList=${work}/sources.list`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${work}/lists`,
    `Dir::State::Status=${work}/status`,
    `Dir::Cache::Archives=${work}/archives`,
    ...['Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache=', 'Debug::NoLocking=true', 'APT::Sandbox::User=root'],
  ].flatMap((setting) => ['-o', setting]);
  await run('apt-get', [...settings, 'update']);
  await run('apt-get', [...settings, 'install', '--download-only', '--no-install-recommends', '--yes', name]);
  const files = (await readdir(join(work, 'archives'))).filter((file) => file.endsWith('.deb'));
  for (const file of files) await run('dpkg-deb', ['-x', join(work, 'archives', file), join(work, 'root')]);
  await rename(join(work, 'root'), root);
  await rm(work, { recursive: true });
}
