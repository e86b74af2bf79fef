import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { readPage } from '../support/pages.js';

const SAMPLE = 'test/integration/bundle-samples/bundle.ts';
/** `npm run test:packages` runs it. */
const OF_WEBPACK = 'test/packages/apps/shared/webpack.config.mjs';

/** Prints that its job ran. */
const APPLICATION = `
  import { NestFactory } from '@nestjs/core';
  import { SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';
  class AppModule {}
  const imports = [SingletonJobModule.forRoot({ projectName: 'shop', store: 'memory' })];
  NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false }).then((app) => {
    const run = ({ job }) => { console.log(job + ' ran'); process.exit(); };
    app.get(SingletonJobRegistry).register({ name: 'price-tick', schedule: { delay: '1h' }, run });
  });
`;

describe('An application that esbuild has bundled as the page says', () => {
  let folder: string;
  /** Where no packages are installed. */
  let elsewhere: string;

  beforeAll(async () => {
    // a fresh clone does not have it
    await mkdir(join(ROOT, '.cache'), { recursive: true });
    folder = await mkdtemp(join(ROOT, '.cache/bundle-'));
    elsewhere = await mkdtemp(join(tmpdir(), 'singleton-job-bundle-'));
    await mkdir(join(folder, 'dist'));
    await writeFile(join(folder, 'dist/main.js'), APPLICATION);
    const args = ['--import', import.meta.resolve('tsx'), join(ROOT, SAMPLE)];
    const bundling = await attempt(process.execPath, args, { cwd: folder });
    expect(bundling).toEqual({ code: 0, output: '' });
    await copyFile(join(folder, 'bundle/main.cjs'), join(elsewhere, 'main.cjs'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
    await rm(elsewhere, { recursive: true });
  });

  it.each([SAMPLE, OF_WEBPACK])('is bundled by a file of the page: %s', (file) => {
    expect(readPage('docs/production/bundlers.md')).toContain(readPage(file));
  });

  it('runs its jobs, where no client is installed', async () => {
    const { output } = await attempt(process.execPath, [join(elsewhere, 'main.cjs')], { cwd: elsewhere });
    expect(output).toBe('price-tick ran\n');
  });
});
