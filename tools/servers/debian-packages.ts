import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';

/**
 * Fetches packages of Debian or Ubuntu into a folder that git ignores, and unpacks them there: neither root nor an
 * installation is needed, and nothing outside that folder changes. The second call finds it done. Undefined on other
 * systems and where they cannot be had.
 */
export async function unpackDebian(name: string, packages: readonly string[]): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const cache = join(ROOT, '.cache', name);
  const root = join(cache, 'packages');
  try {
    if (!existsSync(root)) await fetchPackages(cache, root, packages);
    return root;
  } catch {
    return undefined;
  }
}

/** The environment in which unpacked programs find their libraries. */
export async function environmentIn(root: string): Promise<NodeJS.ProcessEnv> {
  const folders = [process.env['LD_LIBRARY_PATH']];
  for (const parent of [join(root, 'usr/lib'), join(root, 'lib')]) {
    const names = await readdir(parent).catch(() => []);
    folders.unshift(...names.filter((name) => name.includes('-linux-')).map((name) => join(parent, name)));
  }
  return { ...process.env, LD_LIBRARY_PATH: folders.filter(Boolean).join(':') };
}

async function fetchPackages(cache: string, root: string, packages: readonly string[]): Promise<void> {
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'fetch-'));
  try {
    // the lists of a fresh machine are empty or stale; our own copy of them needs no root
    await download(packages, work).catch(async () => {
      const lists = join(work, 'lists');
      await mkdir(join(lists, 'partial'), { recursive: true });
      const own = ['Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache=', `Dir::State::Lists=${lists}`];
      await aptGet(own, 'update');
      await download(packages, work, own);
    });
    const files = (await readdir(work)).filter((file) => file.endsWith('.deb'));
    for (const file of files) await run('dpkg', ['-x', join(work, file), join(work, 'root')]);
    // a single rename: a second process that does the same finds all of it or nothing
    await rename(join(work, 'root'), root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Downloads these packages, and the libraries that this machine does not have. */
async function download(packages: readonly string[], into: string, own: readonly string[] = []): Promise<void> {
  await mkdir(join(into, 'partial'), { recursive: true });
  const settings = [...own, `Dir::Cache::Archives=${into}`, 'Debug::NoLocking=true'];
  await aptGet(settings, 'install', '--download-only', '--reinstall', '--no-install-recommends', '--yes', ...packages);
}

async function aptGet(settings: readonly string[], ...args: readonly string[]): Promise<void> {
  await run('apt-get', [...settings.flatMap((setting) => ['-o', setting]), ...args]);
}
