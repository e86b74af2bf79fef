import { expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { duration } from './duration.js';

it('A duration that is known only at run time is checked', () => {
  expect(duration('5m')).toBe('5m');
  expect(() => duration('5 sec')).toThrow(InvalidOptionsError);
  expect(() => duration('30')).toThrow(
    "this is no duration:\n  - duration() must be given a text such as '500ms', '3s' or '5m', got '30': add a unit",
  );
});
