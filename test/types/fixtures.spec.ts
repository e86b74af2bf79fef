import { beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = join(import.meta.dirname, 'fixtures');

/** Every file of fixtures/: its first line is the rule it shows, and `@ts-expect-error` marks what must not compile. */
const fixtures = readdirSync(FIXTURES).map((name) => {
  const file = join(FIXTURES, name);
  const [first = ''] = readFileSync(file, 'utf8').split('\n');
  return { file, rule: first.replace(/^\/\/ /, '') };
});

describe('the public types', () => {
  let program: ts.Program | undefined;

  beforeAll(() => {
    const path = join(ROOT, 'tsconfig.json');
    const settings = ts.readConfigFile(path, (file) => ts.sys.readFile(file)).config as unknown;
    const { options } = ts.parseJsonConfigFileContent(settings, ts.sys, ROOT);
    program = ts.createProgram(
      fixtures.map(({ file }) => file),
      // `npm run verify` compiles them without it
      { ...options, exactOptionalPropertyTypes: true },
    );
  });

  it.each(fixtures)('$rule', ({ file }) => {
    const source = program?.getSourceFile(file);
    expect(source).toBeDefined();
    const found = program === undefined ? [] : ts.getPreEmitDiagnostics(program, source);
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});
