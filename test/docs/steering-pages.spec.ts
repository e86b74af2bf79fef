import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SingletonJobRegistry } from 'nestjs-singleton-job';
import { complaintsAbout } from '../support/compile-samples.js';
import { startDisabled } from '../support/nest-application.js';

const read = (page: string): string => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

const CONTEXT = {
  known: {
    '@nestjs/common': ['Controller', 'Get', 'Injectable', 'Param', 'Post'],
    'nestjs-singleton-job': [...['LockService', 'SingletonJobRegistry', 'type JobStatus', 'type TriggerResult']],
  },
  readersOwn: `
declare function readBatches(tenant: string, options: { signal: AbortSignal }): AsyncIterable<unknown[]>;
declare function writeBatch(batch: unknown[]): Promise<number>;
declare const database: object;
declare function importInto(database: object, options: { signal: AbortSignal; token: number }): Promise<void>;
declare const locks: import('nestjs-singleton-job').LockService;
declare const jobs: import('nestjs-singleton-job').SingletonJobRegistry;
declare function sync(tenant: string, options: { signal: AbortSignal }): Promise<void>;
declare const lazyModuleLoader: import('@nestjs/core').LazyModuleLoader;
declare class ReportsModule {}
declare class Reports { write(run: import('nestjs-singleton-job').JobRun): Promise<void>; }
`,
};

/** What stands in the first column of the table under a heading. */
function firstCells(page: string, heading: string): string[] {
  const [, section = ''] = read(page).split(`## ${heading}\n`);
  const rows = section.split('\n## ')[0]?.match(/^\| (`[^|]+) \|/gm) ?? [];
  return rows.flatMap((row) => [...row.matchAll(/`(\w+)/g)].map(([, name = '']) => name));
}

describe.each(['locks.md', 'steering.md'])('docs/%s', (name) => {
  it('has samples that compile', () => {
    const page = read(name);
    expect(page.match(/^```ts$/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(complaintsAbout(page, CONTEXT)).toEqual([]);
  });

  it('is short', () => {
    expect(read(name).trimEnd().split('\n').length).toBeLessThanOrEqual(130);
  });
});

describe('docs/steering.md', () => {
  it('has every field of a status, in order', async () => {
    await using application = await startDisabled({});
    const registry = application.app.get(SingletonJobRegistry);
    registry.register({ name: 'tick', schedule: { period: '1s' }, run: () => undefined });
    expect(firstCells('steering.md', 'What a job looks like')).toEqual(Object.keys(registry.get('tick')));
  });

  it('has every way to steer', () => {
    const methods = Object.getOwnPropertyNames(SingletonJobRegistry.prototype);
    const steered = firstCells('steering.md', 'What can be done to it').filter((name) => name !== 'name');
    expect(steered).toEqual(['trigger', 'pause', 'resume', 'stepDown']);
    expect(methods).toEqual(expect.arrayContaining(steered));
  });
});
