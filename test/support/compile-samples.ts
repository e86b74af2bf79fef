import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

export interface SampleContext {
  /** What a sample takes for granted, because everybody knows where it comes from: package to names. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Declarations of what a sample leaves to the reader. */
  readonly readersOwn: string;
}

/** What the compiler says about the samples of a page, each as a module of its own. */
export function complaintsAbout(page: string, { known, readersOwn }: SampleContext): readonly string[] {
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const files = new Map(
    blocks.map((block, index) => [fileOf(`sample-${String(index + 1)}.ts`), withImports(block, known)]),
  );
  files.set(fileOf('readers-own.d.ts'), readersOwn);
  return compile(files);
}

function fileOf(name: string): string {
  return join(ROOT, 'test/integration', `page-${name}`);
}

function withImports(block: string, known: SampleContext['known']): string {
  const imported = [...block.matchAll(/^import [^]*?;$/gm)].join('\n');
  const uses = (text: string, name: string): boolean => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(text);
  const lines = Object.entries(known).map(([from, names]) => {
    const missing = names.filter((name) => uses(block, name) && !uses(imported, name));
    return `import { ${missing.join(', ')} } from '${from}';\n`;
  });
  return `${lines.join('')}${block}`;
}

/**
 * What the compiler says about the samples of pages, each a whole file. A sample that begins with `// name.ts` has this name, and
 * the others of its page can import it.
 */
export function errorsInSamples(pages: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map<string, string>();
  for (const [page, text] of pages) {
    for (const { 1: block = '', index } of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
      const line = text.slice(0, index).split('\n').length + 1;
      const [, name = `line-${String(line)}.ts`] = /^\/\/ ([\w.-]+\.ts)\n/.exec(block) ?? [];
      const file = join(ROOT, 'test/docs/samples', page, name);
      if (files.has(file)) return [`${page}: ${name} is there twice`];
      files.set(file, block);
    }
  }
  return compile(files, { exactOptionalPropertyTypes: true });
}

/** Files that are on no disk. */
function compile(files: ReadonlyMap<string, string>, stricter: ts.CompilerOptions = {}): readonly string[] {
  const settings = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config as unknown;
  const parsed = ts.parseJsonConfigFileContent(settings, ts.sys, ROOT);
  // a sample need not use what it shows
  const options = { ...parsed.options, noUnusedLocals: false, noUnusedParameters: false, ...stricter };
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
