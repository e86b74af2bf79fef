import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { messageOf, stackOf } from './message-of.js';
import { asStoreError } from './store.error.js';

const explode = (): never => {
  throw new Error('looked at');
};
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const UNSHOWN = 'something that cannot be shown';

describe('The message of a thrown value', () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('boom'), 'boom'],
    ['text', 'boom', "'boom'"],
    ['nothing', undefined, 'undefined'],
    ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
    ['an error of several lines', new Error('first\r\n  second\n'), 'first second '],
    ['an error whose message is no text', Object.assign(new Error(), { message: 7 }), '7'],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: explode }), UNSHOWN],
    ['an object that throws at being shown', { [inspect.custom]: explode }, UNSHOWN],
    ['a proxy that throws at everything', new Proxy({}, { get: explode, getPrototypeOf: explode }), UNSHOWN],
    ['a proxy that was revoked', revoked(), UNSHOWN],
    ['an error of several addresses', Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ])('is on one line: %s', (_what, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });

  it('has at most 1,000 characters, and its stack at most 10,000', () => {
    const huge = new Error('x'.repeat(5_000_000));
    expect(messageOf(huge)).toHaveLength(1_001);
    expect(stackOf(huge)).toHaveLength(10_001);
  });

  it('has no stack if there is none or it cannot be read', () => {
    expect(stackOf('boom')).toBeUndefined();
    expect(stackOf(revoked())).toBeUndefined();
    expect(stackOf(Object.defineProperty(new Error(), 'stack', { get: explode }))).toBeUndefined();
    expect(stackOf(Object.assign(new Error(), { stack: 7 }))).toBeUndefined();
  });

  it('exists for every rejection of a store', () => {
    expect(asStoreError(Object.create(null))).toMatchObject({ code: 'STORE_UNREACHABLE' });
  });
});
