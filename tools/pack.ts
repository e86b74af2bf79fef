import { copyFile, cp, mkdir, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm, run } from './workspace/command.js';
import { DIST, LIBRARY, LIBRARY_BUILD, ROOT } from './workspace/paths.js';

const PACKAGE = join(DIST, 'package');
const TEXTS = ['README.md', 'LICENSE', 'CHANGELOG.md'];

/** Builds the library and writes `dist/nestjs-singleton-job-<version>.tgz`, exactly as it would be published. */
await run(process.execPath, [join(ROOT, 'node_modules/tsx/dist/cli.mjs'), join(ROOT, 'tools/build.ts'), 'library']);
await rm(PACKAGE, { recursive: true, force: true });
await mkdir(join(PACKAGE, 'dist'), { recursive: true });
await copyFile(join(LIBRARY, 'package.json'), join(PACKAGE, 'package.json'));
await cp(LIBRARY_BUILD, join(PACKAGE, 'dist'), { recursive: true });
for (const text of TEXTS) if (existsSync(join(ROOT, text))) await copyFile(join(ROOT, text), join(PACKAGE, text));
await npm(['pack', '--silent', '--pack-destination', DIST], { cwd: PACKAGE });

const { name, version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as Record<string, string>;
console.log(`dist/${String(name)}-${String(version)}.tgz`);
