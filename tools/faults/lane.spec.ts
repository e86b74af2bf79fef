import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { Lane, type Verdict } from './lane.js';
import { type Message } from './message.js';

/** A lane that judges messages by their commands, and what it said went out. */
function laneTo(to: PassThrough): { readonly lane: Lane; readonly passed: string[] } {
  const passed: string[] = [];
  const lane = new Lane({
    to,
    judge: ({ command }) => command as Verdict,
    passes: ({ command }) => passed.push(command),
    delayMs: () => 0,
  });
  return { lane, passed };
}

const message = (command: Verdict): Message => ({ direction: 'answer', command, bytes: Buffer.from(`${command} `) });

describe('A lane', () => {
  it('tells what goes out when it does: what is held when it is let go, what is lost never', () => {
    const to = new PassThrough();
    const { lane, passed } = laneTo(to);
    for (const verdict of ['pass', 'hold', 'pass'] as const) lane.send(message(verdict));
    expect(passed).toEqual(['pass']);
    lane.letGo();
    for (const verdict of ['lose', 'pass'] as const) lane.send(message(verdict));
    expect(passed).toEqual(['pass', 'hold', 'pass']);
    expect(String(to.read())).toBe('pass hold pass ');
  });

  it('tells nothing of what nobody can read any more', () => {
    const to = new PassThrough();
    const { lane, passed } = laneTo(to);
    to.destroy();
    lane.send(message('pass'));
    expect(passed).toEqual([]);
  });
});
