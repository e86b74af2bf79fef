import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { InvalidJobsError, InvalidLockError, InvalidOptionsError } from './mistakes.errors.js';

describe('An error with a list of mistakes', () => {
  it.each([InvalidOptionsError, InvalidJobsError, InvalidLockError])('is printed with each mistake once', (Invalid) => {
    const error = new Invalid(['projectName is missing']);
    expect(inspect(error).match(/projectName is missing/g)).toHaveLength(1);
    expect(error.problems).toEqual(['projectName is missing']);
  });
});
