import { describe, expect, it } from '@jest/globals';
import { CLAIM } from '../../libs/singleton-job/src/lock/scripts.js';
import { readRequest } from './message.js';
import { encode, FrameReader, type RespValue } from './resp.js';

const ANSWERS = Buffer.from(
  '+OK\r\n:7\r\n$-1\r\n_\r\n*2\r\n:1\r\n$2\r\n\u00e9\r\n%1\r\n+a\r\n*0\r\n>2\r\n+message\r\n+b\r\n-ERR no\r\n',
);
const VALUES: RespValue[] = ['OK', '7', undefined, undefined, ['1', '\u00e9'], ['a', []], ['message', 'b'], 'ERR no'];

describe('The reader of the Redis protocol', () => {
  it.each([1, 2, 3, 7, 1_000])('finds the same frames in pieces of %s bytes', (size) => {
    const reader = new FrameReader();
    const frames = [];
    for (let at = 0; at < ANSWERS.length; at += size) frames.push(...reader.read(ANSWERS.subarray(at, at + size)));
    expect(frames.map(({ value }) => value)).toEqual(VALUES);
    expect(Buffer.concat(frames.map(({ bytes }) => bytes))).toEqual(ANSWERS);
    expect(frames.filter(({ isPush }) => isPush).map(({ value }) => value)).toEqual([['message', 'b']]);
  });

  it.each([
    ['EVALSHA', CLAIM.sha],
    ['EVAL', CLAIM.source],
  ])('knows a script of the library that is sent by %s', (verb, script) => {
    const bytes = encode(verb, script, '2', 'fleet:cron:lock', '{fleet:cron:lock}:state', 'a1-1f#2');
    const [frame] = new FrameReader().read(bytes);
    expect(readRequest(frame?.value, bytes)).toMatchObject({ command: 'claim', job: 'cron', holder: 'a1-1f#2' });
  });
});
