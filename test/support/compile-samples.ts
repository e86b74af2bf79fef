import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

/**
 * What the compiler says about the samples of pages, each a whole file. A sample that begins with `// name.ts` has this
 * name, and the others of its page can import it.
 */
export function errorsInSamples(pages: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map<string, string>();
  for (const [page, text] of pages) {
    for (const { 1: block = '', index } of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
      const line = text.slice(0, index).split('\n').length + 1;
      const [, name = `line-${String(line)}.ts`] = /^\/\/ ([\w.-]+\.ts)\n/.exec(block) ?? [];
      const file = join(ROOT, 'test/docs/samples', page, name);
      if (files.has(file)) return [`${page}: ${name} is there twice`];
      // the workspace has no Vitest, and Jest has the same names but one
      files.set(file, block.replace(/\bvi\b/g, 'jest'));
    }
  }
  return compile(files);
}

/** What the compiler says about files, by their paths and texts. They need not be on a disk. */
export function compile(files: ReadonlyMap<string, string>): readonly string[] {
  const settings = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config as unknown;
  const parsed = ts.parseJsonConfigFileContent(settings, ts.sys, ROOT);
  // a sample need not use what it shows
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  const paths = { ...parsed.options.paths, vitest: ['./node_modules/@jest/globals/build/index.d.ts'] };
  const options = { ...parsed.options, ...unused, paths, exactOptionalPropertyTypes: true };
  const disk = ts.createCompilerHost(options);
  const host = ts.createCompilerHost(options);
  const folders = new Set([...files.keys()].map(dirname));
  host.directoryExists = (name) => folders.has(name) || disk.directoryExists?.(name) === true;
  host.fileExists = (name) => files.has(name) || disk.fileExists(name);
  host.readFile = (name) => files.get(name) ?? disk.readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((name) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(name)).map(({ messageText, start }) => {
      const line = (files.get(name) ?? '').slice(0, start).split('\n').length;
      return `${name.slice(ROOT.length + 1)}:${String(line)} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    }),
  );
}
