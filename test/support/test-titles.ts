import ts from 'typescript';

const TESTS = new Set(['describe', 'it', 'test']);
/** In a title of a table of tests: `$name` stands for a property of the row, `%s` for the next element of it. */
const PLACEHOLDER = /\$(\w+)|%[a-z]/g;

/**
 * The titles of the tests and blocks of a file, as they are written there, with … for what is computed. Of a table of tests
 * also what its rows put into the title, and of a contract of rules (`Rules`), whose names become titles elsewhere, these.
 */
export function testTitles(source: string): ReadonlySet<string> {
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true);
  const titles = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) for (const title of titlesOf(node, file)) titles.add(title);
    if (ts.isVariableDeclaration(node) && node.type?.getText() === 'Rules') {
      for (const rule of textsIn(node.initializer, { names: true })) titles.add(rule);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

function titlesOf({ expression, arguments: [title] }: ts.CallExpression, file: ts.SourceFile): string[] {
  const text = textOf(title);
  if (text === undefined || !TESTS.has(rootOf(expression))) return [];
  const table = ts.isCallExpression(expression) ? initializerOf(expression.arguments[0], file) : undefined;
  const fromRows = [...text.matchAll(PLACEHOLDER)].flatMap(([, property]) => textsIn(table, { property }));
  return [text, ...fromRows];
}

function textOf(title: ts.Node | undefined): string | undefined {
  if (title === undefined) return undefined;
  if (ts.isStringLiteralLike(title)) return title.text;
  if (!ts.isTemplateExpression(title)) return undefined;
  return [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)].join('…');
}

/** `it` in `it.concurrent.each(TABLE)`. */
function rootOf(callee: ts.Expression): string {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return rootOf(callee.expression);
  return callee.getText();
}

/** What a name stands for, if the file says so. */
function initializerOf(table: ts.Expression | undefined, file: ts.SourceFile): ts.Node | undefined {
  if (table === undefined || !ts.isIdentifier(table)) return table;
  const declarations = file.statements
    .filter(ts.isVariableStatement)
    .flatMap((one) => one.declarationList.declarations);
  return declarations.find(({ name }) => name.getText() === table.text)?.initializer;
}

interface Which {
  /** The values of one property; without it, the elements of arrays. */
  readonly property?: string | undefined;
  /** The names of all properties instead. */
  readonly names?: boolean;
}

function textsIn(table: ts.Node | undefined, which: Which): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node)) {
      const { name, initializer } = node;
      if (which.names && ts.isStringLiteral(name)) texts.push(name.text);
      if (name.getText() === which.property && ts.isStringLiteralLike(initializer)) texts.push(initializer.text);
    } else if (ts.isArrayLiteralExpression(node) && !which.names && which.property === undefined) {
      texts.push(...node.elements.filter(ts.isStringLiteralLike).map(({ text }) => text));
    }
    ts.forEachChild(node, visit);
  };
  if (table !== undefined) visit(table);
  return texts;
}
