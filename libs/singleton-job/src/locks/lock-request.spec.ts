import { describe, expect, it } from '@jest/globals';
import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { readLockRequest } from './lock-request.js';

describe('The request for a lock', () => {
  it('has a record of its own for each key and tenant, with any characters', () => {
    const texts = ['x', 'X', 'x/y', 'x%2Fy', 'x:y', '{x}', 'x y', 'ключ', '.', '票'.repeat(55)];
    const tenants = ['x y', 'y x', 'x/y z', 'x y/z', 'x {y}'].map((text) => text.split(' '));
    const keys = [...texts, ...tenants.map(([name = '', tenant = '']) => ({ name, tenant }))];
    const records = keys.map((key) => readLockRequest(key).record);
    expect(new Set(records).size).toBe(keys.length);
    expect(records.filter((record) => !/^[^/:{}\s]+(\/[^/:{}\s]+)?:lock$/.test(record))).toEqual([]);
  });

  const key = /^ {2}- key must be a text, not empty, in whole characters, got /m;
  const noExpiry =
    /is no option here: a lock lives as long as the lease of its replica, so set lockExpiry of the module/;

  it.each<[string, RegExp, readonly unknown[]]>([
    ['an empty key', key, ['']],
    ['a key that is no text', key, [7]],
    ['a tenant without a name', /key\.name must be a text/, [{ tenant: 'x' }]],
    ['a tenant that is a number', /key\.tenant must be .*, got 42: write String\(42\)/, [{ name: 'x', tenant: 42 }]],
    ['half a character', key, ['\uD800']],
    ['a long key', /key must be of 500 characters at most in a URL/, ['x'.repeat(501)]],
    ['a key that is long in a URL', /key must be of 500 characters at most in a URL/, ['票'.repeat(56)]],
    ['the function before the options', /options must be an object, got a function: write them before/, ['x', () => 1]],
    ['options that are none', /options must be an object/, ['x', 5]],
    ['an expiry of its own', noExpiry, ['x', { expiry: '30s' }]],
    ['a wait that is no duration', /wait must be a duration/, ['x', { wait: 'long' }]],
    ['a signal that is none', /signal must be an AbortSignal/, ['x', { signal: {} }]],
  ])('is refused with %s', (_what, message, [given, options]) => {
    const read = (): unknown => readLockRequest(given, options);
    expect(read).toThrow(InvalidLockError);
    expect(read).toThrow(message);
  });
});
