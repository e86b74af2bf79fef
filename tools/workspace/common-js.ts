import { build } from 'esbuild';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Converts modules in place, in one step: classes that they share stay one class each. */
export async function convertToCommonJs(files: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...files],
    outdir: folder,
    allowOverwrite: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // a tool that needs this format cannot always import
    supported: { 'dynamic-import': false },
  });
  for (const file of files) await writeFile(file, withPlainRequire(await readFile(file, 'utf8')));
  // the manifest above says "module"; this folder is the other format
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}

/**
 * Bundlers go on without a package that `require` names within `try`. esbuild puts each of them into a function, where
 * they do not see the `try`.
 */
function withPlainRequire(text: string): string {
  return text.replaceAll(/await Promise\.resolve\(\)\.then\(\(\) => (__toESM\(require\(.+?\).*?\))\)/g, 'await $1');
}
