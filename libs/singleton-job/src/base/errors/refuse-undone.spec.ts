import { describe, expect, it } from '@jest/globals';
import { PassThrough, Readable } from 'node:stream';
import { of } from 'rxjs';
import { refuseUndone } from './refuse-undone.js';

const A_GENERATOR = 'a generator, whose body never runs: read it with for await, and return after that';
const A_STREAM = 'a stream or a cursor that has not ended: await pipeline() of it, or read it with for await';
const A_PROCESS = "a process that has not ended: await once(it, 'close') of node:events";
const PROMISES = 'an array with a promise, which is never awaited: return Promise.all() of them';

function* generate(): Generator<number> {
  yield 1;
}

describe('Work', () => {
  it.each<[what: string, returned: unknown, message: string]>([
    ['a function', () => undefined, 'a function, which is never called: call it, and return its result'],
    ['an Observable', of(1), 'an Observable, which is never subscribed to: return lastValueFrom() of it'],
    ['a generator', generate(), A_GENERATOR],
    ['a generator of another compiler', { next: () => 1, return: () => 1 }, A_GENERATOR],
    ['an unread stream', Readable.from([1]), A_STREAM],
    ['a stream that is still written', new PassThrough().on('data', () => undefined).end(), A_STREAM],
    ['a cursor', { [Symbol.asyncIterator]: generate }, A_STREAM],
    ['a process', { exitCode: null, kill: () => true }, A_PROCESS],
    ['promises', [1, Promise.resolve()], PROMISES],
    ['streams', [Readable.from([1])], `an array with ${A_STREAM}`],
  ])('is not done by %s', (_what, returned, message) => {
    expect(() => refuseUndone(returned, 'it')).toThrow(new Error(`it returned ${message}`));
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['rows', [{ id: 1 }, null]],
    ['a text', 'done'],
    ['a row about a process', { exitCode: null }],
    ['keys of a Map', new Map([[1, 1]]).keys()],
    ['a stream that was closed', Readable.from([1]).destroy()],
  ])('may be done by %s', (_what, returned) => {
    expect(refuseUndone(returned, 'it')).toBe(returned);
  });
});
