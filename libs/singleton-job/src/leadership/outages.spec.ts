import { describe, expect, it } from '@jest/globals';
import { ConnectionFunctionError, StoreError } from '../base/errors/store.error.js';
import { type JobEvents } from '../base/events/events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Outages } from './outages.js';

it('An outage is reported once more when it shows later that the function `connection` fails', async () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const outages = new Outages(clock, (_name, payload) => lines.push(payload));
  const lost = (cause: Error): void => {
    outages.report(new StoreError('STORE_UNREACHABLE', cause.message, { cause }));
  };
  lost(new Error('the connection was closed'));
  await clock.advance(300);
  for (let attempt = 0; attempt < 2; attempt++) lost(new ConnectionFunctionError('Vault is sealed'));
  lost(new Error('no route'));
  expect(lines).toMatchObject([{ outageMs: 0 }, { outageMs: 300, error: { message: 'Vault is sealed' } }]);
});

it('An outage is not over by an answer to a heartbeat that was sent before it', async () => {
  const clock = new ManualClock();
  const reported: string[] = [];
  const outages = new Outages(clock, (name) => reported.push(name));
  const sentMs = clock.now();
  await clock.advance(1);
  outages.report(new StoreError('STORE_UNREACHABLE', 'the server ended the connection'));
  outages.answered(sentMs, false);
  expect(reported).toEqual(['storeUnreachable']);
  await clock.advance(1);
  outages.answered(clock.now(), false);
  expect(reported).toEqual(['storeUnreachable', 'storeRecovered']);
});

it('An outage is reported as one that begins, also by a clock that goes on meanwhile', () => {
  let now = 0;
  const clock = Object.assign(new ManualClock(), { now: () => (now += 0.001) });
  const reported: unknown[] = [];
  const outages = new Outages(clock, (_name, payload) => reported.push(payload));
  outages.report(new StoreError('STORE_UNREACHABLE', 'refused'));
  expect(reported).toMatchObject([{ outageMs: 0 }]);
});

describe('An outage that begins again', () => {
  const often = '10 down, 11 up, 20 down, 21 up, 30 down, 31 up, 40 down, 41 up, 50 down, 51 up, 60 down, 61 up';

  it.each<[string, string, string[]]>([
    ['within 10 s is the same', '5 down, 6 up, 15 down, 16 up', []],
    ['10 s later is another one', '11 down, 12 up', ['down for 0 s', 'up after 1 s']],
    ['is reported when it lasts 10 s', '5 down, 14 down, 15 down, 16 up', ['down for 11 s', 'up after 12 s']],
    ['is reported after a minute', often, ['down for 6 s', 'up after 7 s']],
    ['is reported as over by another server', '5 down, 6 other server', ['up after 2 s, restarted']],
  ])('%s', async (_, story, lines) => {
    const clock = new ManualClock();
    const reported: string[] = [];
    const outages = new Outages(clock, (name, payload) => {
      const { outageMs, hasRestarted } = payload as JobEvents['storeRecovered'];
      const what = name === 'storeRecovered' ? 'up after' : 'down for';
      reported.push(`${what} ${String(outageMs / 1_000)} s${hasRestarted === true ? ', restarted' : ''}`);
    });
    const begunMs = clock.now();
    for (const event of `0 down, 1 up, ${story}`.split(', ')) {
      const [, seconds, what] = /(\d+) (.*)/.exec(event) ?? [];
      await clock.advance(begunMs + Number(seconds) * 1_000 - clock.now());
      if (what === 'down') outages.report(new StoreError('STORE_UNREACHABLE', 'refused'));
      else outages.answered(clock.now(), what === 'other server');
    }
    expect(reported).toEqual(['down for 0 s', 'up after 1 s', ...lines]);
  });
});
