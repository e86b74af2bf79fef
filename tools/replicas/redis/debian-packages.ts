import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '../../../.cache/redis');
const UNPACKED = join(CACHE, 'packages');

/** A server unpacked from the distribution's own packages, and the environment that it finds its libraries in. */
interface UnpackedRedis {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Fetches Redis as packages of Debian or Ubuntu into a folder that git ignores, and unpacks it there: neither root nor an
 * installation is needed, and nothing outside that folder changes. The second call finds it done. Undefined on other systems
 * and where the packages cannot be had.
 */
export async function unpackDebianRedis(): Promise<UnpackedRedis | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    if (!(await exists(UNPACKED))) await fetchPackages();
    return await describe();
  } catch {
    return undefined;
  }
}

async function fetchPackages(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    // the lists of a fresh machine are empty or stale; our own copy of them needs no root
    const options = await download(work, []).then(
      () => [],
      () => privateLists(),
    );
    if (options.length > 0) await download(work, options);
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

async function download(into: string, options: readonly string[]): Promise<void> {
  const libraries = await missingLibraries('redis-tools', options);
  await run('apt-get', [...options, 'download', 'redis-server', 'redis-tools', ...libraries], { cwd: into });
}

async function privateLists(): Promise<string[]> {
  const [lists, archives] = [join(CACHE, 'apt/lists'), join(CACHE, 'apt/archives')];
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  const settings = [
    `Dir::State::Lists=${lists}`,
    `Dir::Cache::Archives=${archives}`,
    'Dir::Cache::pkgcache=',
    'Dir::Cache::srcpkgcache=',
  ];
  const options = settings.flatMap((setting) => ['-o', setting]);
  await run('apt-get', [...options, 'update']);
  return options;
}

/** The libraries that `name` needs, directly or not, and that this machine does not have. */
async function missingLibraries(
  name: string,
  options: readonly string[],
  seen = new Set<string>(),
): Promise<Set<string>> {
  const { stdout } = await run('apt-cache', [...options, 'depends', '--no-recommends', '--no-suggests', name]);
  for (const [, dependency = ''] of stdout.matchAll(/^ {2}Depends: (lib[^\s:<>]+)$/gm)) {
    if (seen.has(dependency) || (await isInstalled(dependency))) continue;
    seen.add(dependency);
    await missingLibraries(dependency, options, seen);
  }
  return seen;
}

async function isInstalled(name: string): Promise<boolean> {
  return run('dpkg-query', ['--show', '--showformat', '${Status}', name]).then(
    ({ stdout }) => stdout.endsWith(' installed'),
    () => false,
  );
}

async function describe(): Promise<UnpackedRedis> {
  const folders: string[] = [];
  for (const parent of ['usr/lib', 'lib']) {
    const path = join(UNPACKED, parent);
    const entries = (await exists(path)) ? await readdir(path, { withFileTypes: true }) : [];
    for (const entry of entries) if (entry.name.includes('-linux-')) folders.push(join(path, entry.name));
  }
  const inherited = process.env['LD_LIBRARY_PATH'];
  if (inherited !== undefined && inherited !== '') folders.push(inherited);
  return { path: join(UNPACKED, 'usr/bin/redis-server'), env: { ...process.env, LD_LIBRARY_PATH: folders.join(':') } };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
