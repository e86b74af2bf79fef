import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { programFile } from './program-file.js';

const PROGRAM = join(import.meta.dirname, 'index.ts');

it('The program of the thread is found', () => {
  expect(programFile()).toBe(PROGRAM);
});

it('It is found also with short or custom stack traces, whose settings are restored', () => {
  const { stackTraceLimit } = Error;
  const before: unknown = Reflect.get(Error, 'prepareStackTrace');
  const format = () => 'formatted otherwise';
  Object.assign(Error, { stackTraceLimit: 0, prepareStackTrace: format });
  const found = programFile();
  const after: unknown = Reflect.get(Error, 'prepareStackTrace');
  const limit = Error.stackTraceLimit;
  Object.assign(Error, { stackTraceLimit, prepareStackTrace: before });
  expect([found, after, limit]).toEqual([PROGRAM, format, 0]);
});
