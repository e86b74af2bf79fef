import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** Tells files and folders of the checkout apart from what they were: by their names, sizes and times of change. */
export async function fingerprintOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const name of await namesIn(path)) {
      const { size, mtimeMs } = await stat(join(ROOT, name));
      hash.update(`${name} ${String(size)} ${String(mtimeMs)}\n`);
    }
  }
  return hash.digest('hex');
}

async function namesIn(path: string): Promise<string[]> {
  if (!(await stat(join(ROOT, path))).isDirectory()) return [path];
  const entries = await readdir(join(ROOT, path), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)).sort();
}
