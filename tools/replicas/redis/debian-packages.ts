import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../workspace/paths.js';
import { type RedisBinary, redisBinary } from './redis-binary.js';

const run = promisify(execFile);
const CACHE = join(ROOT, '.cache/redis');
const UNPACKED = join(CACHE, 'packages');

/**
 * Fetches Redis as packages of Debian or Ubuntu into a folder that git ignores, and unpacks it there: neither root nor an
 * installation is needed, and nothing outside that folder changes. The second call finds it done. Undefined on other systems
 * and where the packages cannot be had.
 */
export async function unpackDebianRedis(): Promise<RedisBinary | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    if (!(await exists(UNPACKED))) await fetchPackages();
    const libraries = await libraryFolders();
    const LD_LIBRARY_PATH = [...libraries, process.env['LD_LIBRARY_PATH'] ?? '']
      .filter((path) => path !== '')
      .join(':');
    return await redisBinary(join(UNPACKED, 'usr/bin/redis-server'), { ...process.env, LD_LIBRARY_PATH });
  } catch {
    return undefined;
  }
}

async function fetchPackages(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    // the lists of a fresh machine are empty or stale; our own copy of them needs no root
    await download(work).catch(async () => {
      const lists = join(work, 'lists');
      await mkdir(join(lists, 'partial'), { recursive: true });
      const own = ['Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache=', `Dir::State::Lists=${lists}`];
      await run('apt-get', [...settings(own), 'update']);
      await download(work, own);
    });
    const packages = (await readdir(work)).filter((file) => file.endsWith('.deb'));
    for (const file of packages) await run('dpkg', ['-x', join(work, file), join(work, 'root')]);
    // a single rename: a second process that does the same finds all of it or nothing
    await rename(join(work, 'root'), UNPACKED).catch(async (error: unknown) => {
      if (!(await exists(UNPACKED))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Downloads both packages, and the libraries that this machine does not have. */
async function download(into: string, own: readonly string[] = []): Promise<void> {
  await mkdir(join(into, 'partial'), { recursive: true });
  const options = settings([...own, `Dir::Cache::Archives=${into}`, 'Debug::NoLocking=true']);
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends', '--yes'];
  await run('apt-get', [...options, ...install, 'redis-server', 'redis-tools']);
}

function settings(values: readonly string[]): string[] {
  return values.flatMap((value) => ['-o', value]);
}

async function libraryFolders(): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of [join(UNPACKED, 'usr/lib'), join(UNPACKED, 'lib')]) {
    const names = await readdir(parent).catch(() => []);
    folders.push(...names.filter((name) => name.includes('-linux-')).map((name) => join(parent, name)));
  }
  return folders;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
