import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../workspace/paths.js';

const run = promisify(execFile);

/** Programs that were unpacked into a folder. */
interface Unpacked {
  readonly root: string;
  /** The environment that they find their libraries in. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Fetches packages of Debian or Ubuntu into a folder that git ignores, and unpacks them there: neither root nor an installation is needed,
 * and nothing outside that folder changes. The second call finds it done. Undefined on other systems and where they cannot be had.
 */
export async function unpackDebian(name: string, packages: readonly string[]): Promise<Unpacked | undefined> {
  if (process.platform !== 'linux') return undefined;
  const cache = join(ROOT, '.cache', name);
  const root = join(cache, 'packages');
  try {
    if (!(await exists(root))) await fetchPackages(cache, root, packages);
    const libraries = await libraryFolders(root);
    const LD_LIBRARY_PATH = [...libraries, process.env['LD_LIBRARY_PATH'] ?? '']
      .filter((path) => path !== '')
      .join(':');
    return { root, env: { ...process.env, LD_LIBRARY_PATH } };
  } catch {
    return undefined;
  }
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
      await run('apt-get', [...settings(own), 'update']);
      await download(packages, work, own);
    });
    const files = (await readdir(work)).filter((file) => file.endsWith('.deb'));
    for (const file of files) await run('dpkg', ['-x', join(work, file), join(work, 'root')]);
    // a single rename: a second process that does the same finds all of it or nothing
    await rename(join(work, 'root'), root).catch(async (error: unknown) => {
      if (!(await exists(root))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Downloads these packages, and the libraries that this machine does not have. */
async function download(packages: readonly string[], into: string, own: readonly string[] = []): Promise<void> {
  await mkdir(join(into, 'partial'), { recursive: true });
  const options = settings([...own, `Dir::Cache::Archives=${into}`, 'Debug::NoLocking=true']);
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends', '--yes'];
  await run('apt-get', [...options, ...install, ...packages]);
}

function settings(values: readonly string[]): string[] {
  return values.flatMap((value) => ['-o', value]);
}

async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of [join(root, 'usr/lib'), join(root, 'lib')]) {
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
