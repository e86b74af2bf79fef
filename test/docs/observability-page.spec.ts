import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const page = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8');

it('the subscriber of docs/observability.md handles any thrown value', () => {
  const [, sample = ''] = /^## Diagnostics channels$[^]*?^```ts\n([^]*?)^```$/m.exec(page) ?? [];
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
