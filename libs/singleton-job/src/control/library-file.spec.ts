import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { libraryFile } from './library-file.js';

const PROGRAM = join(import.meta.dirname, '../heartbeat-thread/index.ts');

it('Another file of the library is found relative to this one', () => {
  expect(libraryFile('heartbeat-thread/index')).toBe(PROGRAM);
});

it('It is found also with short or custom stack traces, whose settings are restored', () => {
  const { stackTraceLimit } = Error;
  const before: unknown = Reflect.get(Error, 'prepareStackTrace');
  const format = () => 'formatted otherwise';
  Object.assign(Error, { stackTraceLimit: 0, prepareStackTrace: format });
  const found = libraryFile('heartbeat-thread/index');
  const after: unknown = Reflect.get(Error, 'prepareStackTrace');
  const limit = Error.stackTraceLimit;
  Object.assign(Error, { stackTraceLimit, prepareStackTrace: before });
  expect([found, after, limit]).toEqual([PROGRAM, format, 0]);
});
