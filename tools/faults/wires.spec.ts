import { describe, expect, it } from '@jest/globals';
import { ACQUIRE, CLAIM, RELEASE, RENEW, type Script } from '../../libs/singleton-job/src/lock/scripts.js';
import { confirmationsIn } from './leases.js';
import { type Message, readAnswer, readRequest } from './message.js';
import { type RespValue } from './resp.js';
import { isYes, Wires } from './wires.js';

const NONE = Buffer.alloc(0);

function request(script: Script): Message {
  return readRequest(['EVALSHA', script.sha, '2', 'p:grid:lock', 's', 'a1-1f#1'], NONE);
}

/** What the wires show of such an exchange. */
function shownOf(script: Script, value: RespValue, isPassedOn = true): Wires {
  const wires = new Wires();
  const asked = request(script);
  const answer = readAnswer(value, NONE, asked);
  for (const message of [asked, answer]) wires.comes(message);
  if (isPassedOn) wires.passes(answer);
  return wires;
}

describe('What the wires show', () => {
  it('is who asked, for which job, and how Redis answered', () => {
    const shown = { command: 'acquire', job: 'grid', holder: 'a1-1f#1', process: 'a1', words: ['1', '8'] };
    expect(shownOf(ACQUIRE, ['1', '8']).exchanges).toMatchObject([shown]);
  });

  it.each<readonly [string, Script, RespValue, boolean | undefined]>([
    ['a grant', ACQUIRE, ['1', '8'], true],
    ['a refusal', ACQUIRE, ['0', 'b1-1f#1'], false],
    ['a renewal', RENEW, ['1'], true],
    ['a claim', CLAIM, ['claimed'], true],
    ['a claim that comes too late', CLAIM, ['taken'], true],
    ['a claim of somebody else', CLAIM, ['not-leader'], false],
    ['a release', RELEASE, ['1'], true],
    ['an error', RENEW, 'NOSCRIPT', undefined],
  ])('says whose the lock is, or was: %s', (_, script, answer, says) => {
    expect(shownOf(script, answer).exchanges.map(isYes)).toEqual([says]);
  });

  it('confirms a lease by an answer that was passed on, and by no other', () => {
    expect(confirmationsIn(shownOf(ACQUIRE, ['1', '8']).exchanges)).toMatchObject([{ process: 'a1', fencingToken: 8 }]);
    expect(confirmationsIn(shownOf(ACQUIRE, ['1', '8'], false).exchanges)).toEqual([]);
    expect(confirmationsIn(shownOf(ACQUIRE, ['0', 'b1-1f#1']).exchanges)).toEqual([]);
  });
});
