import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LIBRARY } from './paths.js';

/** The modules that the package exports, without `src/` and `.ts`: `index`, `store/store`. */
export async function entryPoints(): Promise<readonly string[]> {
  const { files } = JSON.parse(await readFile(join(LIBRARY, 'tsconfig.lib.json'), 'utf8')) as { files: string[] };
  return files.map((file) => file.slice('src/'.length, -'.ts'.length));
}
