import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
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

  it('has a subscriber of a channel that copes with whatever a job may throw', () => {
    const [, sample = ''] = /^## Channels$[^]*?^```ts\n([^]*?)^```$/m.exec(page) ?? [];
    const subscribers: ((message: unknown) => void)[] = [];
    const written: string[] = [];
    runInNewContext(ts.transpile(sample.replaceAll(/^import .*$/gm, '')), {
      inspect,
      process: { stderr: { write: (text: string) => written.push(text) } },
      subscribe: (_: string, subscriber: (message: unknown) => void) => subscribers.push(subscriber),
    });
    const thrown: readonly unknown[] = [new Error('no feed'), 'no feed', undefined, Object.create(null)];
    for (const error of thrown) subscribers[0]?.({ job: 'price-tick', error });
    expect(written).toHaveLength(thrown.length);
    expect(written.filter((text) => !text.startsWith('price-tick failed: '))).toEqual([]);
  });
});
