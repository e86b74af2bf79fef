import ts from 'typescript';
import { type Declarations } from './declarations.js';

const printer = ts.createPrinter({ removeComments: true });

/** The public names of an entry point with their declarations. */
export function publicNames(entryPoint: string, exported: ReadonlyMap<string, ts.Symbol>): string {
  const shown = byName([...exported]).map(([name, symbol]) =>
    symbol.name === name ? print(symbol) : `export { ${symbol.name} as ${name} };`,
  );
  return shown.length === 0 ? `## ${entryPoint}\n\nA program. It has no names.\n` : section(entryPoint, shown);
}

/**
 * What the declarations of public names refer to and no entry point exports. What only a constructor takes is left out, and so
 * is what a class contains: users get such an object and do not make it.
 */
export function innerTypes(exported: readonly ts.Symbol[], declarations: Declarations): string {
  const seen = new Set(exported);
  const visit = (node: ts.Node): void => {
    if (isPrivate(node) || ts.isConstructorDeclaration(node)) return;
    const symbol = ts.isIdentifier(node) ? declarations.checker.getSymbolAtLocation(node) : undefined;
    const found = symbol === undefined ? undefined : declarations.resolve(symbol);
    if (found !== undefined && isTopLevel(found) && declarations.isOurs(found)) seen.add(found);
    ts.forEachChild(node, visit);
  };
  // the set grows while it is walked through
  for (const symbol of seen) {
    if (exported.includes(symbol) || !isClass(symbol)) symbol.declarations?.forEach(visit);
  }
  const inner = [...seen].filter((symbol) => !exported.includes(symbol));
  const shown = byName(inner.map((symbol) => [symbol.name, symbol])).map(([name, symbol]) =>
    isClass(symbol) ? `class ${name} {}` : print(symbol),
  );
  return section('Not exported, but part of the above', shown);
}

function byName(symbols: readonly (readonly [string, ts.Symbol])[]): readonly (readonly [string, ts.Symbol])[] {
  return symbols.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function section(title: string, code: readonly string[]): string {
  return [`## ${title}\n`, '```ts', ...code, '```\n'].join('\n');
}

function isClass({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Class) !== 0;
}

function isTopLevel({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((declaration) => ts.isSourceFile(statementOf(declaration).parent));
}

function print(symbol: ts.Symbol): string {
  const statements = new Set(symbol.declarations?.map(statementOf));
  return [...statements]
    .map((statement) => {
      const { transformed } = ts.transform(statement, [
        (context) => (root) => ts.visitEachChild(root, (node) => (isPrivate(node) ? undefined : node), context),
      ]);
      const [shown = statement] = transformed;
      return printer
        .printNode(ts.EmitHint.Unspecified, shown, statement.getSourceFile())
        .replace(/^(export )?(declare )?/, '');
    })
    .join('\n');
}

/** The whole statement of a declaration: a variable is only a part of its own. */
function statementOf(declaration: ts.Declaration): ts.Node {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

/** A private member of a class; a private constructor matters to users as well. */
export function isPrivate(node: ts.Node): boolean {
  if (!ts.isClassElement(node) || ts.isConstructorDeclaration(node)) return false;
  const isHash = node.name !== undefined && ts.isPrivateIdentifier(node.name);
  return isHash || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0;
}
