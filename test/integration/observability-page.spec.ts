import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { complaintsAbout } from '../support/compile-samples.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8');

const CONTEXT = {
  known: {
    '@nestjs/common': ['Controller', 'Get', 'Injectable', 'Module'],
    'nestjs-singleton-job': [
      'SingletonJobModule',
      ...['InterceptedRun', 'JobEvents', 'JobObserver', 'RunInterceptor'].map((name) => `type ${name}`),
    ],
  },
  readersOwn: 'declare class OnCall { tell(message: string): Promise<void>; }',
};

describe('docs/observability.md', () => {
  it('has samples that compile', () => {
    expect(page.match(/^```ts$/gm)?.length).toBeGreaterThanOrEqual(5);
    expect(complaintsAbout(page, CONTEXT)).toEqual([]);
    // the compiler was there
    expect(complaintsAbout('```ts\nconst a: string = 1;\n```\n', CONTEXT)).toHaveLength(1);
  });

  it('has no link to a heading that is not there', () => {
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(links.length).toBeGreaterThanOrEqual(5);
    expect(links.filter((anchor) => !headings.includes(anchor))).toEqual([]);
  });
});
