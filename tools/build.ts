import { build } from 'esbuild';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { node } from './workspace/command.js';
import { convertToCommonJs } from './workspace/common-js.js';
import { entryPoints } from './workspace/entry-points.js';
import { joinPrograms } from './workspace/join-programs.js';
import { DIST, LIBRARY, LIBRARY_BUILD, ROOT } from './workspace/paths.js';
import { unlessFresh } from './workspace/unless-fresh.js';

/** Builds the library for `import` and for `require`, without its specs and its test tools. */
async function buildLibrary(): Promise<void> {
  const [esm, cjs] = [join(LIBRARY_BUILD, 'esm'), join(LIBRARY_BUILD, 'cjs')];
  await rm(LIBRARY_BUILD, { recursive: true, force: true });
  await node('typescript/bin/tsc', ['-p', join(LIBRARY, 'tsconfig.lib.json')]);
  const entries = await entryPoints();
  await joinModules(esm, entries);
  await keepTypes(esm, entries);
  await cp(esm, cjs, { recursive: true });
  await convertToCommonJs(await filesIn(cjs, '.js'), cjs);
}

/**
 * Joins the modules of each entry point. A process that starts would read a file for each of them, which took most of
 * the import.
 */
async function joinModules(folder: string, entries: readonly string[]): Promise<void> {
  const compiled = await filesIn(folder, '.js');
  const { outputFiles } = await build({
    entryPoints: entries.map((entry) => join(folder, `${entry}.js`)),
    outbase: folder,
    outdir: folder,
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
  });
  for (const file of compiled) await rm(file);
  await mkdir(join(folder, 'shared'));
  for (const { path, text } of outputFiles) await writeFile(path, withClassNames(text));
}

/** Removes the types that no entry point leads to. */
async function keepTypes(folder: string, entries: readonly string[]): Promise<void> {
  const kept = new Set<string>();
  const keep = async (file: string): Promise<void> => {
    if (kept.has(file)) return;
    kept.add(file);
    const text = await readFile(file, 'utf8');
    for (const [, path = ''] of text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g))
      await keep(join(dirname(file), `${path}.d.ts`));
  };
  for (const entry of entries) await keep(join(folder, `${entry}.d.ts`));
  for (const file of await filesIn(folder, '.d.ts')) if (!kept.has(file)) await rm(file);
}

async function filesIn(folder: string, end: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.endsWith(end)).map((file) => join(folder, file));
}

/**
 * Gives decorated classes their names back: tsc assigns each to a variable of its own name, which makes esbuild rename
 * the class, and Nest shows that name. esbuild's own remedy, `keepNames`, names every closure again each time that it
 * is made: 3 MB for 1,000 jobs.
 */
function withClassNames(text: string): string {
  return text.replaceAll(/^(var (\w+) = .*class \2)\d+ /gm, '$1 ');
}

const SHARED_SOURCES = ['libs/singleton-job/src', 'nest-cli.json', 'tsconfig.json', 'package-lock.json', 'tools'];

/**
 * Compiles an application and the library's sources that it reaches; it needs no built library. A build of the same
 * sources is kept, so its processes need not stop.
 */
async function buildApplication(name: string): Promise<void> {
  const stamp = join('dist/apps', name, '.built');
  await unlessFresh(stamp, [join('apps', name), ...SHARED_SOURCES], async () => {
    await node('@nestjs/cli/bin/nest.js', ['build', name]);
    if (name === 'worker') await joinWorker(join(DIST, 'apps/worker'));
    await writeFile(join(ROOT, stamp), '');
  });
}

/** The worker, as tests and the demo start it. */
function joinWorker(folder: string): Promise<void> {
  return joinPrograms({
    entryPoints: {
      'joined/main': join(folder, 'apps/worker/src/main.js'),
      // beside it, where the library looks for its thread
      'heartbeat-thread/index': join(folder, 'libs/singleton-job/src/heartbeat-thread/index.js'),
    },
    outdir: folder,
  });
}

const BUILDS = {
  library: buildLibrary,
  worker: () => buildApplication('worker'),
  minimal: () => buildApplication('minimal'),
} as const;

const wanted = process.argv.slice(2);
for (const [name, build] of Object.entries(BUILDS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  await build();
  console.log(`built ${name}`);
}
