import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/workspace/paths.js';

/** The guide: README and every page under docs/, but the decisions. */
export const GUIDE: readonly string[] = [
  'README.md',
  ...pagesUnder('docs').filter((page) => !page.startsWith('docs/adr/')),
];

/** Every page below a folder, from the root of the repository. */
export function pagesUnder(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .toSorted();
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}
