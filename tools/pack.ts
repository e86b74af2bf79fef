import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { addressesIn, indexForTools, withPublishedLinks } from './pack/published.js';
import { mistakesInPackage, mistakesInRelease } from './pack/release.js';
import { node, npm, tool } from './workspace/command.js';
import { DIST, LIBRARY, LIBRARY_BUILD, ROOT } from './workspace/paths.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

const PACKAGE = join(DIST, 'package');
const GUIDE = 'docs/README.md';

const readText = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8');
const readJson = async <T>(manifest: string): Promise<T> => JSON.parse(await readFile(manifest, 'utf8')) as T;

/**
 * `npm run pack [-- TAG]` builds the library, writes `dist/nestjs-singleton-job-<version>.tgz`, which is what a release publishes, and
 * checks it. With a tag it first checks that the version may be released under it.
 */
const [tag] = process.argv.slice(2);
const { repository } = await readJson<{ repository: string }>(join(ROOT, 'package.json'));
const manifest = await readJson<Manifest>(join(LIBRARY, 'package.json'));
const { version } = manifest;
if (tag !== undefined) {
  refuse(mistakesInRelease(tag, version, await readText('CHANGELOG.md')));
  await tool('api.ts', ['--check']);
}

await tool('build.ts', ['library']);
await rm(PACKAGE, { recursive: true, force: true });
await mkdir(join(PACKAGE, 'dist'), { recursive: true });
await cp(LIBRARY_BUILD, join(PACKAGE, 'dist'), { recursive: true });
const published = { ...manifest, ...addressesIn(repository) };
await writeFile(join(PACKAGE, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
await copyFile(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'));
for (const page of ['README.md', 'CHANGELOG.md']) await writePage(page, await readText(page));

const names = await readdir(join(ROOT, 'docs'), { recursive: true });
const guide = new Set(
  names
    .filter((name) => name.endsWith('.md') && !name.startsWith('adr'))
    .map((name) => posix.join('docs', ...name.split(sep))),
);
for (const page of guide) await writePage(page, await readText(page), page, guide);
await writePage(GUIDE, indexForTools(await readText(GUIDE), manifest), 'llms.txt', guide);

const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', DIST], { cwd: PACKAGE })) as [
  { files: { path: string }[] },
];
refuse(mistakesInPackage(packed[0].files.map(({ path }) => path)));
const tarball = join(DIST, `${manifest.name}-${version}.tgz`);
await node('publint/src/cli.js', ['run', '--strict', tarball]);
await node('@arethetypeswrong/cli/dist/index.js', [tarball]);
console.log(`dist/${manifest.name}-${version}.tgz`);

async function writePage(page: string, text: string, as = page, beside?: ReadonlySet<string>): Promise<void> {
  const file = join(PACKAGE, as);
  await mkdir(dirname(file), { recursive: true });
  const links = { repository, version, page, as, ...(beside === undefined ? {} : { beside }) };
  await writeFile(file, withPublishedLinks(text, links));
}

function refuse(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
}
