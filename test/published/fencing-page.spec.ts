import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

describe('docs/fencing.md', () => {
  const root = join(import.meta.dirname, '../..');
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const spaced = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const tested = ['errors', 'sql', 'redis', 'http'].map((name) => spaced(read(`test/support/fenced-${name}.ts`)));
  const blocks = [...read('docs/fencing.md').matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
  const paragraphs = blocks
    .filter(([, language]) => language === 'ts')
    .flatMap(([, , block = '']) => block.trim().split(/\n\n(?! )/));

  it('shows code that is tested, word for word', () => {
    expect(paragraphs.length).toBeGreaterThanOrEqual(7);
    expect(paragraphs.filter((text) => !tested.some((code) => code.includes(spaced(text))))).toEqual([]);
  });

  it('is short', () => {
    expect(read('docs/fencing.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });
});
