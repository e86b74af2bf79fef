import { join } from 'node:path';
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

/** Files that are on no disk. */
function compile(files: ReadonlyMap<string, string>): readonly string[] {
  const settings = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config as unknown;
  const parsed = ts.parseJsonConfigFileContent(settings, ts.sys, ROOT);
  // a sample need not use what it shows
  const options = { ...parsed.options, noUnusedLocals: false };
  const disk = ts.createCompilerHost(options);
  const host = ts.createCompilerHost(options);
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
