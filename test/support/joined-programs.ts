import { join } from 'node:path';
import { joinPrograms } from '../../tools/workspace/join-programs.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { temporaryFolder } from './temporary-folder.js';
import { oneForAll } from './use-redis.js';

/** Compiles programs once for all tests of a file, by names. Returns the file of each. */
export function joinedPrograms(sources: Readonly<Record<string, string>>): (name: string) => string {
  const folder = oneForAll(async () => {
    // the programs find their packages from there
    const made = await temporaryFolder(join(ROOT, '.cache'));
    const entryPoints = Object.entries(sources).map(([name, file]) => ({ in: join(ROOT, file), out: name }));
    await joinPrograms({ entryPoints, outdir: made.path });
    return made;
  });
  return (name) => join(folder().path, `${name}.js`);
}
