import ts from 'typescript';
import { type Declarations } from './declarations.js';
import { isPrivate } from './report.js';

/** The public names and fields without a docstring, such as `JobRun.signal`. A member may have that of what it overrides. */
export function undocumented(exported: readonly ts.Symbol[], declarations: Declarations): readonly string[] {
  const { checker } = declarations;
  const missing = new Set<string>();
  const check = (symbol: ts.Symbol, path: string): void => {
    if (symbol.getDocumentationComment(checker).length === 0) missing.add(path);
  };
  const visit = (node: ts.Node, path: string): void => {
    // objects are made by the library, and values speak for themselves
    if (isPrivate(node) || ts.isConstructorDeclaration(node) || ts.isVariableDeclaration(node)) return;
    const field = isField(node) ? checker.getSymbolAtLocation(node.name) : undefined;
    const name = field === undefined ? path : `${path}.${field.name}`;
    if (field !== undefined) check(field, name);
    ts.forEachChild(node, (child) => {
      visit(child, name);
    });
  };
  for (const symbol of exported.filter((each) => declarations.isOurs(each))) {
    check(symbol, symbol.name);
    for (const declaration of symbol.declarations ?? []) visit(declaration, symbol.name);
  }
  return [...missing];
}

function isField(node: ts.Node): node is (ts.TypeElement | ts.ClassElement) & { readonly name: ts.PropertyName } {
  return (ts.isTypeElement(node) || ts.isClassElement(node)) && node.name !== undefined;
}
