import { dirname, join } from 'node:path';
import ts from 'typescript';
import { LIBRARY } from '../workspace/paths.js';

const SOURCES = join(LIBRARY, 'src');
const CONFIG = join(LIBRARY, 'tsconfig.lib.json');

/** The library as its users see it: a program of its `.d.ts` files, which are made in memory. */
export class Declarations {
  readonly checker: ts.TypeChecker;
  readonly #program: ts.Program;

  constructor() {
    const { config } = ts.readConfigFile(CONFIG, (file) => ts.sys.readFile(file)) as { config: unknown };
    const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(CONFIG));
    const inPlace = { ...options, outDir: undefined, emitDeclarationOnly: true };
    const files = new Map<string, string>();
    ts.createProgram(fileNames, inPlace).emit(undefined, (name, text) => files.set(name, text));

    const disk = ts.createCompilerHost(inPlace);
    const host = ts.createCompilerHost(inPlace);
    // only the declarations are seen, not the sources beside which they stand
    host.fileExists = (name) => files.has(name) || (!name.startsWith(SOURCES) && disk.fileExists(name));
    host.readFile = (name) => files.get(name) ?? disk.readFile(name);
    this.#program = ts.createProgram([...files.keys()], inPlace, host);
    this.checker = this.#program.getTypeChecker();
  }

  /** What a source of the library exports, such as `testing/index.ts`, by name; aliases are followed to what they stand for. */
  exportsOf(source: string): ReadonlyMap<string, ts.Symbol> {
    const file = this.#program.getSourceFile(join(SOURCES, source.replace(/\.ts$/, '.d.ts')));
    const module = file === undefined ? undefined : this.checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${source} is not part of the library`);
    const exported = this.checker.getExportsOfModule(module);
    return new Map(exported.map((symbol) => [symbol.name, this.resolve(symbol)]));
  }

  resolve(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.checker.getAliasedSymbol(symbol);
  }

  isOurs({ declarations = [] }: ts.Symbol): boolean {
    return declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(SOURCES));
  }
}
