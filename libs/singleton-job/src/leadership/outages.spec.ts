import { expect, it } from '@jest/globals';
import { ConnectionFunctionError, StoreError } from '../base/errors/store.error.js';
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
  const told: string[] = [];
  const outages = new Outages(clock, (name) => told.push(name));
  const sentMs = clock.now();
  await clock.advance(1);
  outages.report(new StoreError('STORE_UNREACHABLE', 'the server ended the connection'));
  outages.answered(sentMs, false);
  expect(told).toEqual(['storeUnreachable']);
  await clock.advance(1);
  outages.answered(clock.now(), false);
  expect(told).toEqual(['storeUnreachable', 'storeRecovered']);
});
