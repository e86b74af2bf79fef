import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { JOB_OPTIONS, type JobOptionRow } from '../../libs/singleton-job/src/options/table/job-option-table.js';
import { MODULE_OPTIONS } from '../../libs/singleton-job/src/options/table/module-option-table.js';
import { type OptionRow } from '../../libs/singleton-job/src/options/table/option-table.js';
import { optionInVariable } from '../../libs/singleton-job/src/options/variables/variables.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { readPage } from './pages.js';

/**
 * The page whose tables `npm run options` writes: option, type and variable from the tables of the library, and the
 * rest from the docstrings of the interfaces.
 */
export const OPTIONS_PAGE = 'docs/options.md';

const ALL_KINDS = 5;

interface OptionDoc {
  /** Its first paragraph, and links. */
  readonly about: string;
  readonly default: string;
}

/** The docstrings of the options, by their names. */
export const MODULE_DOCS = docsIn('singleton-job.options.ts');
export const JOB_DOCS = docsIn('job.options.ts');

function docsIn(name: string): Readonly<Record<string, OptionDoc>> {
  const text = readPage(`libs/singleton-job/src/options/${name}`);
  const interfaces = ts
    .createSourceFile(name, text, ts.ScriptTarget.Latest, true)
    .statements.filter(ts.isInterfaceDeclaration);
  const options = interfaces.flatMap(({ members }) => members.filter(ts.isPropertySignature));
  return Object.fromEntries(options.map((option) => [option.name.getText(), docOf(option)]));
}

function docOf(option: ts.PropertySignature): OptionDoc {
  const [doc] = ts.getJSDocCommentsAndTags(option).filter(ts.isJSDoc);
  const textOf = (part?: ts.JSDoc | ts.JSDocTag): string => ts.getTextOfJSDocComment(part?.comment) ?? '';
  const tags = (name: string): string[] => (doc?.tags ?? []).filter(({ tagName }) => tagName.text === name).map(textOf);
  const [first = ''] = textOf(doc).split('\n\n');
  // TypeScript takes `docs` for a name
  const links = tags('see').map((path) => path.replace(/^\/(options\.md)?/, ''));
  const shown = links.map(
    (path) => `[${(/^[^#]*?(\w+)\.md/.exec(path)?.[1] ?? path.slice(1)).replace('-', ' ')}](${path})`,
  );
  const [value = option.questionToken === undefined ? 'required' : 'none'] = tags('default');
  return {
    about: [first.replaceAll('\n', ' '), ...(shown.length > 0 ? [`${shown.join(', ')}.`] : [])].join(' '),
    // one word is a value
    default: /^[^\s`]+$/.test(value) && value !== 'required' && value !== 'none' ? `\`${value}\`` : value,
  };
}

type Docs = Readonly<Record<string, OptionDoc>>;

function rowOf(name: string, docs: Docs, type: string, column: string): string[] {
  const doc = docs[name];
  if (doc === undefined) throw new Error(`the option ${name} has no docstring`);
  return [`\`${name}\``, type, doc.default, column, doc.about];
}

function moduleTable(names: readonly string[]): string[][] {
  const table: Readonly<Record<string, OptionRow>> = MODULE_OPTIONS;
  const rows = names.map((name) => {
    const { type } = table[name] ?? { type: undefined };
    if (type === undefined) throw new Error(`there is no option ${name}`);
    return rowOf(name, MODULE_DOCS, type.name, type.variable === 'none' ? '' : `\`${optionInVariable(name)}\``);
  });
  return [['option', 'type', 'default', 'variable', 'what it is'], ...rows];
}

function jobTable(): string[][] {
  const table = Object.entries<JobOptionRow>(JOB_OPTIONS).filter(([, { isArgument }]) => isArgument !== true);
  const rows = table.map(([name, { type, kinds }]) => {
    const jobs = kinds.length === ALL_KINDS ? 'all' : kinds.map((kind) => kind.replace('-', ' ')).join(', ');
    return rowOf(name, JOB_DOCS, type.name, jobs);
  });
  return [['job option', 'type', 'default', 'for', 'what it is'], ...rows];
}

/** The page with its tables as they should be. Each stands behind a comment that names its options. */
export function withTables(page: string): string {
  return page.replaceAll(/(<!-- options:(.*) -->\n)(?:\|.*\n)*/g, (_, comment: string, names: string) => {
    const [head = [], ...rows] = names === ' of jobs' ? jobTable() : moduleTable(names.trim().split(' '));
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
    return [comment, line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('');
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(join(ROOT, OPTIONS_PAGE), withTables(readPage(OPTIONS_PAGE)));
