import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressesIn, withAbsoluteLinks } from './pack/published.js';
import { npm, tool } from './workspace/command.js';
import { DIST, LIBRARY, LIBRARY_BUILD, ROOT } from './workspace/paths.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const PACKAGE = join(DIST, 'package');

const read = async <T>(manifest: string): Promise<T> => JSON.parse(await readFile(manifest, 'utf8')) as T;

/** Builds the library and writes `dist/nestjs-singleton-job-<version>.tgz`, exactly as it would be published. */
await tool('build.ts', ['library']);
await rm(PACKAGE, { recursive: true, force: true });
await mkdir(join(PACKAGE, 'dist'), { recursive: true });
await cp(LIBRARY_BUILD, join(PACKAGE, 'dist'), { recursive: true });

const { repository } = await read<{ repository: string }>(join(ROOT, 'package.json'));
const manifest = await read<Manifest>(join(LIBRARY, 'package.json'));
const published = { ...manifest, ...addressesIn(repository) };
await writeFile(join(PACKAGE, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
for (const page of ['README.md', 'CHANGELOG.md']) {
  const text = await readFile(join(ROOT, page), 'utf8');
  await writeFile(join(PACKAGE, page), withAbsoluteLinks(text, repository, manifest.version));
}
await copyFile(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'));

await npm(['pack', '--silent', '--pack-destination', DIST], { cwd: PACKAGE });
console.log(`dist/${manifest.name}-${manifest.version}.tgz`);
