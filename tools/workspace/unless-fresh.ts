import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** Makes a file, unless it is newer than each of its sources: files, and folders with all that is in them. */
export async function unlessFresh(
  file: string,
  sources: readonly string[],
  make: () => Promise<unknown>,
): Promise<void> {
  const files = await Promise.all(
    sources.map(async (source) => {
      const inside = await readdir(join(ROOT, source), { recursive: true }).catch(() => []);
      return ['', ...inside].map((name) => join(source, name));
    }),
  );
  const changes = await Promise.all(files.flat().map(changedAtMs));
  if ((await changedAtMs(file).catch(() => 0)) <= Math.max(...changes)) await make();
}

async function changedAtMs(path: string): Promise<number> {
  return (await stat(join(ROOT, path))).mtimeMs;
}
