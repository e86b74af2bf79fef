import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { joinPrograms } from '../../tools/workspace/join-programs.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { oneForAll } from './use-redis.js';

/** Compiles programs once for all tests of a file, by names. Returns the file of each. */
export function joinedPrograms(sources: Readonly<Record<string, string>>): (name: string) => string {
  const folder = oneForAll(async () => {
    // the programs find their packages from there
    const cache = join(ROOT, '.cache');
    await mkdir(cache, { recursive: true });
    const path = await mkdtemp(join(cache, 'programs-'));
    const entryPoints = Object.entries(sources).map(([name, file]) => ({ in: join(ROOT, file), out: name }));
    await joinPrograms({ entryPoints, outdir: path });
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  });
  return (name) => join(folder().path, `${name}.js`);
}
