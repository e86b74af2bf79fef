import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(import.meta.dirname, '../../libs/singleton-job/src');

/** What each file of the library imports from the others, types too. */
function importsOfAll(): Map<string, string[]> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec)\.ts$/.test(file),
  );
  const importsOf = (file: string) =>
    [...readFileSync(join(SOURCES, file), 'utf8').matchAll(/from '(\.[^']+)\.js'/g)].map(([, path]) =>
      join(file, '..', `${String(path)}.ts`),
    );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

it('No file of the library needs one that needs it', () => {
  const left = importsOfAll();
  const isFree = (file: string) => !left.get(file)?.some((other) => left.has(other));
  for (let free = ['']; free.length > 0;) {
    free = [...left.keys()].filter(isFree);
    for (const file of free) left.delete(file);
  }
  expect([...left.keys()]).toEqual([]);
});
