import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(import.meta.dirname, '../../libs/singleton-job/src');

/** What each file of a room imports from the same room, types too, which lint does not follow. */
function importsIn(room: string): Map<string, string[]> {
  const files = readdirSync(join(SOURCES, room)).filter((file) => /(?<!\.spec)\.ts$/.test(file));
  const importsOf = (file: string) =>
    [...readFileSync(join(SOURCES, room, file), 'utf8').matchAll(/from '\.\/([^']+)\.js'/g)].map(
      ([, name]) => `${String(name)}.ts`,
    );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

it.each(['leadership', 'commands', 'runs'])('No file of %s needs one that needs it', (room) => {
  const left = importsIn(room);
  const isFree = (file: string) => !left.get(file)?.some((other) => left.has(other));
  for (let free = ['']; free.length > 0;) {
    free = [...left.keys()].filter(isFree);
    for (const file of free) left.delete(file);
  }
  expect([...left.keys()]).toEqual([]);
});
