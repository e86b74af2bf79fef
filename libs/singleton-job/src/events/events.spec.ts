import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/** What is written above each event. */
function docsOf(file: string): Map<string, string> {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const events = source.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === 'JobEvents');
  const docs = (events?.members ?? []).map((member): [string, string] => [
    member.name?.getText() ?? '',
    ts
      .getJSDocCommentsAndTags(member)
      .map((doc) => doc.getText().replaceAll(/\s*\n\s*\*\s*/g, ' '))
      .join(),
  ]);
  return new Map(docs);
}

describe('Every event', () => {
  it('documents when it is sent and when it is not', () => {
    const docs = docsOf(join(import.meta.dirname, 'events.ts'));
    expect(docs.size).toBeGreaterThan(15);
    expect([...docs].filter(([, doc]) => !/\bnot called\b/i.test(doc)).map(([event]) => event)).toEqual([]);
  });
});
