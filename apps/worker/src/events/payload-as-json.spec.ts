import { describe, expect, it } from '@jest/globals';
import { payloadAsJson } from './payload-as-json.js';

describe('what is told of an event', () => {
  it('is its payload, where there is no error in it', () => {
    const payload = { job: 'beat', fencingToken: 7 };
    expect(payloadAsJson(payload)).toBe(payload);
  });

  it('names an error, its code and its message', () => {
    const error = Object.assign(new TypeError('broken'), { code: 'E_BROKEN' });
    expect(payloadAsJson({ job: 'beat', error })).toEqual({
      job: 'beat',
      error: { name: 'TypeError', code: 'E_BROKEN', message: 'broken' },
    });
  });

  it('shows whatever else was thrown, be it no text and nothing that becomes one', () => {
    const messageOf = (error: unknown): unknown =>
      (payloadAsJson({ error }) as { error: { message: string } }).error.message;
    expect(messageOf('broken')).toBe("'broken'");
    expect(messageOf(undefined)).toBe('undefined');
    expect(messageOf(Object.create(null))).toBe('[Object: null prototype] {}');
  });
});
