import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { describeError, messageOf, stackOf } from './message-of.js';
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

  const wrapped = (message: string, cause: unknown): Error => new Error(message, { cause });
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:9');
  const { message } = refused;
  const circle: Error = new Error('circle');
  circle.cause = circle;

  it.each<[string, unknown, string]>([
    ['one', wrapped('fetch failed', refused), 'fetch failed: connect ECONNREFUSED 127.0.0.1:9'],
    ['several', wrapped('a', wrapped('b', wrapped('c', 'd'))), "a: b: c: 'd'"],
    [
      'of several addresses',
      wrapped('failed', new AggregateError([refused], '')),
      `failed: AggregateError: ${message}`,
    ],
    ['of Promise.any()', new AggregateError([new Error('a down'), new Error('b down')], 'all'), 'all: a down, b down'],
    ['that the message repeats', wrapped(`failed: ${message}`, refused), `failed: ${message}`],
    ['in a circle', circle, 'circle'],
    ['that throws', Object.defineProperty(new Error('outer'), 'cause', { get: explode }), 'outer'],
    ['none', undefined, 'undefined'],
  ])('is followed by its causes: %s', (_what, thrown, text) => {
    expect(describeError(thrown)).toBe(text);
  });

  it('gives way to the innermost cause where both are too long', () => {
    const error = wrapped('outer '.repeat(50), refused);
    expect(describeError(error, 60)).toBe(`outer outer outer outer o…: ${message}`);
    expect(describeError(wrapped('outer', new Error('y'.repeat(300))), 200)).toBe('y'.repeat(200));
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
