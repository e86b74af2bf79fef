import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withPublishedLinks } from './pack/published-links.js';
import { node, npm, tool } from './workspace/command.js';
import { DIST, LIBRARY, LIBRARY_BUILD, ROOT } from './workspace/paths.js';

const PACKAGE = join(DIST, 'package');
const GUIDE = 'docs/README.md';

/** With the pages of the guide. */
const SIZE_LIMIT_BYTES = 1_660_000;

/**
 * `npm run pack [-- TAG]` builds the library, writes `dist/nestjs-singleton-job-<version>.tgz`, which is what a release
 * publishes, and checks it. With a tag it first checks that the version may be released under it.
 */
const [tag] = process.argv.slice(2);
const readText = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8');
const { repository } = JSON.parse(await readText('package.json')) as { repository: string };
const manifest = JSON.parse(await readFile(join(LIBRARY, 'package.json'), 'utf8')) as Record<
  'name' | 'version' | 'description',
  string
>;
const { name, version, description } = manifest;
if (tag !== undefined) {
  const isLogged = (await readText('CHANGELOG.md')).includes(`## [Unreleased]\n\n## [${version}]`);
  if (tag !== `v${version}` || !isLogged) {
    throw new Error(`${tag} must be the version of ${name}, got ${version}, and the first under an empty [Unreleased]`);
  }
  await tool('api.ts', ['--check']);
}

await tool('build.ts', ['library']);
await rm(PACKAGE, { recursive: true, force: true });
await cp(LIBRARY_BUILD, join(PACKAGE, 'dist'), { recursive: true });
await cp(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'));
const published = {
  ...manifest,
  homepage: `${repository}#readme`,
  repository: { type: 'git', url: `git+${repository}.git`, directory: 'libs/singleton-job' },
  bugs: { url: `${repository}/issues` },
};
await writeFile(join(PACKAGE, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);

const pages = (await readdir(join(ROOT, 'docs'), { recursive: true })).filter((page) => page.endsWith('.md'));
const guide = new Set(pages.filter((page) => !page.startsWith('adr')).map((page) => `docs/${page}`));
for (const page of guide) await writePage(page, guide);
// npm shows these alone
for (const page of ['README.md', 'CHANGELOG.md']) await writePage(page, new Set());
// the index of the guide as tools look for it: a title, a summary, and a line for each page
const index = (await readText(GUIDE)).replace(/^# .+$/m, `# ${name}\n\n> ${description}`);
await writePage(GUIDE, guide, 'llms.txt', index);

const packed = await npm(['pack', '--json', '--pack-destination', DIST], { cwd: PACKAGE });
const [{ unpackedSize }] = JSON.parse(packed) as [{ unpackedSize: number }];
if (unpackedSize > SIZE_LIMIT_BYTES) throw new Error(`the package takes ${String(unpackedSize)} bytes`);
const tarball = join(DIST, `${name}-${version}.tgz`);
await node('publint/src/cli.js', ['run', '--strict', tarball]);
await node('@arethetypeswrong/cli/dist/index.js', [tarball]);
console.log(`dist/${name}-${version}.tgz`);

async function writePage(page: string, beside: ReadonlySet<string>, as = page, text?: string): Promise<void> {
  const file = join(PACKAGE, as);
  await mkdir(dirname(file), { recursive: true });
  const links = { repository, version, page, as, beside };
  await writeFile(file, withPublishedLinks(text ?? (await readText(page)), links));
}
