import { deepEqual } from 'node:assert/strict';
import { type LockMessage, type LockStore } from '../../store/index.js';
import { acquireRequest, eventually, granted } from './requests.js';
import { type Rules } from './scene.js';

const GRANTED: LockMessage = {
  kind: 'granted',
  locks: [
    { name: 'price-tick', holder: 'eu.1@pod-a.2@10000#17', token: 1_767_000_000_001 },
    { name: 'Prices.import', holder: 'eu.1@pod-a.2@10000#18', token: 1_767_000_000_002 },
  ],
};

export const MESSAGES: Rules = {
  'reaches every replica, the sender too': async ({ store, other }) => {
    const [own, others] = [received(store), received(other)];
    await store.publish(GRANTED);
    deepEqual(await first(own), GRANTED);
    deepEqual(await first(others), GRANTED);
  },

  'is sent by each release, with the holder and the token': async ({ store, other }) => {
    const messages = received(other);
    const { token } = await granted(store, acquireRequest('a#1'));
    await store.release({ name: 'price-tick', holder: 'a#1', token, update: {} });
    deepEqual(await first(messages), { kind: 'released', locks: [{ name: 'price-tick', holder: 'a#1', token }] });
  },

  'is not sent by the release of a lock that was not ours': async ({ store, other, release }) => {
    const messages = received(other);
    await granted(store, acquireRequest('a#1'));
    await release('b#1');
    await store.publish(GRANTED);
    deepEqual(await first(messages), GRANTED);
  },

  'is not sent by a grant': async ({ store, other }) => {
    const messages = received(other);
    await granted(store, acquireRequest('a#1'));
    await store.publish(GRANTED);
    deepEqual(await first(messages), GRANTED);
  },

  'does not reach a listener that was removed': async ({ store, other }) => {
    const messages: LockMessage[] = [];
    const stop = other.listen({ message: (message) => messages.push(message) });
    stop();
    const control = received(other);
    await store.publish(GRANTED);
    await first(control);
    deepEqual(messages, []);
  },

  'reaches the other listeners of a replica when one of them throws': async ({ store, other }) => {
    other.listen({
      message: () => {
        throw new Error('a broken listener');
      },
    });
    const messages = received(other);
    await store.publish(GRANTED);
    deepEqual(await first(messages), GRANTED);
  },
};

function received(store: LockStore): LockMessage[] {
  const messages: LockMessage[] = [];
  store.listen({ message: (message) => messages.push(message) });
  return messages;
}

function first(messages: readonly LockMessage[]): Promise<LockMessage> {
  return eventually('a message arrives', () => messages.at(0));
}
