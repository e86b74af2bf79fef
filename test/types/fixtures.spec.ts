import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../support/compile-samples.js';

const FIXTURES = join(import.meta.dirname, 'fixtures');

/** Every file of fixtures/: its first line is the rule it shows, and `@ts-expect-error` marks what must not compile. */
const files = new Map(
  readdirSync(FIXTURES).map((name) => [join(FIXTURES, name), readFileSync(join(FIXTURES, name), 'utf8')]),
);

describe('the public types', () => {
  let errors: readonly string[] | undefined;

  it.each([...files].map(([file, text]) => ({ file, rule: /^\/\/ (.*)/.exec(text)?.[1] })))('$rule', ({ file }) => {
    errors ??= compile(files);
    expect(errors.filter((error) => file.endsWith(error.split(':')[0] ?? ''))).toEqual([]);
  });
});
