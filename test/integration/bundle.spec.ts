import { describe, expect, it } from '@jest/globals';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { readPage } from '../support/pages.js';
import { temporaryFolder } from '../support/temporary-folder.js';

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
  it.each([SAMPLE, OF_WEBPACK])('is bundled by a file of the page: %s', (file) => {
    expect(readPage('docs/production/bundlers.md')).toContain(readPage(file));
  });

  it('runs its jobs, where no client is installed', async () => {
    await using folder = await temporaryFolder(join(ROOT, '.cache'));
    await mkdir(join(folder.path, 'dist'));
    await writeFile(join(folder.path, 'dist/main.js'), APPLICATION);
    const args = ['--import', import.meta.resolve('tsx'), join(ROOT, SAMPLE)];
    const bundling = await attempt(process.execPath, args, { cwd: folder.path });
    expect(bundling).toEqual({ code: 0, output: '' });

    await using elsewhere = await temporaryFolder();
    await copyFile(join(folder.path, 'bundle/main.cjs'), join(elsewhere.path, 'main.cjs'));
    const { output } = await attempt(process.execPath, [join(elsewhere.path, 'main.cjs')], { cwd: elsewhere.path });
    expect(output).toBe('price-tick ran\n');
  });
});
