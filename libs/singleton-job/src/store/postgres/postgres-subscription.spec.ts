import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { FakePostgresClient } from '../../testing/specs/fake-postgres-client.js';
import { Listeners } from '../listeners.js';
import { PostgresSubscription } from './postgres-subscription.js';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

it('is subscribed soon after its test could be sent, although the sending connection came back later', async () => {
  const unreachable = new LockStoreError('STORE_UNREACHABLE', 'no connection yet');
  const listening = new FakePostgresClient({ isSilent: false });
  let canSend = false;
  const subscription = new PostgresSubscription({
    channel: 'messages',
    listeners: new Listeners(),
    lane: { create: () => Promise.resolve(listening), toError: () => unreachable, random: () => 0 },
    notify: (payload) => {
      if (!canSend) return Promise.reject(unreachable);
      listening.emit('notification', { payload });
      return Promise.resolve();
    },
    onMessage: () => undefined,
  });
  subscription.open();
  await jest.advanceTimersByTimeAsync(1_000);
  canSend = true;
  await jest.advanceTimersByTimeAsync(300);
  expect(subscription.isSubscribed).toBe(true);
  await subscription.close();
  expect(jest.getTimerCount()).toBe(0);
});
