import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/workspace/paths.js';
import { readPage } from '../support/pages.js';

const SOURCES = join(ROOT, 'libs/singleton-job/src');

/**
 * All sources of the library, with texts that go over several lines put together, and the messages in the snapshots of
 * its specs.
 */
function texts(): string {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.snap') || (name.endsWith('.ts') && !name.endsWith('.spec.ts')))
    .map((name) => readFileSync(join(SOURCES, name), 'utf8'))
    .join('\n')
    .replaceAll(/['`"] \+\n\s*['`"]/g, '')
    .replaceAll(String.raw`\'`, "'");
}

it('each message of the page on troubleshooting is one of the library', () => {
  const page = readPage('docs/troubleshooting.md');
  const symptoms = [...page.matchAll(/^\| (?!you see)([^|]+) \|/gm)].map(([, cell = '']) => cell);
  const messages = symptoms.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message));
  const library = texts();
  expect(messages.length).toBeGreaterThan(15);
  expect(messages.filter((message) => message.split('…').some((part) => !library.includes(part)))).toEqual([]);
});
