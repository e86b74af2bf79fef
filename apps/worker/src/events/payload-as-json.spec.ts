import { describe, expect, it } from '@jest/globals';
import { payloadAsJson } from './payload-as-json.js';

describe('the JSON of an event', () => {
  it('is its payload, if that has no error', () => {
    const payload = { job: 'beat', fencingToken: 7 };
    expect(payloadAsJson(payload)).toBe(payload);
  });

  it('has the name, the code and the message of an error', () => {
    const error = Object.assign(new TypeError('broken'), { code: 'E_BROKEN' });
    expect(payloadAsJson({ job: 'beat', error })).toEqual({
      job: 'beat',
      error: { name: 'TypeError', code: 'E_BROKEN', message: 'broken' },
    });
  });

  it('shows any other thrown value, also without a text', () => {
    const messageOf = (error: unknown): unknown =>
      (payloadAsJson({ error }) as { error: { message: string } }).error.message;
    expect(messageOf('broken')).toBe("'broken'");
    expect(messageOf(undefined)).toBe('undefined');
    expect(messageOf(Object.create(null))).toBe('[Object: null prototype] {}');
  });
});
