import { deepEqual } from 'node:assert/strict';
import { type LockStore, type StoreMessage } from '../../store/lock-store.js';
import { acquireRequest, eventually, granted } from './requests.js';
import { type Rules } from './rule-context.js';

const GRANTED: StoreMessage = {
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

  'may be about sessions, a request, a reply or about rebalancing, and arrives as it was sent': async ({
    store,
    other,
  }) => {
    const messages = received(other);
    const sent: StoreMessage[] = [
      { kind: 'request', id: 'eu.1@pod-a#1', action: 'trigger', name: 'Prices.import', expiresAt: 1_767_000_000_001 },
      { kind: 'request', id: 'a#2', action: 'step-down', name: 'price-tick', expiresAt: 1 },
      { kind: 'request', id: 'a#3', action: 'pause', name: 'price-tick', expiresAt: 1 },
      { kind: 'request', id: 'a#4', action: 'resume', name: 'price-tick', expiresAt: 1 },
      { kind: 'sessions-ended', sessions: ['eu.1@pod-a.2@10000', 'eu.1@pod-a.3@800'] },
      { kind: 'reply', id: 'a#1', replicaId: 'b', outcome: 'done', run: { fencingToken: 7, startedAt: 8 } },
      { kind: 'reply', id: 'a#2', replicaId: 'b', outcome: 'done', run: null },
      { kind: 'reply', id: 'a#3', replicaId: 'b', outcome: 'running', run: null },
      { kind: 'reply', id: 'a#4', replicaId: 'b', outcome: 'lease-unconfirmed', run: null },
      { kind: 'offer', id: 'a#5', replicaId: 'eu.1@pod-a', leading: 7, names: ['price-tick', 'Prices.import'] },
      { kind: 'bid', id: 'a#5', replicaId: 'b', leading: 0, names: ['price-tick'] },
      { kind: 'hand-over', replicaId: 'b', terms: [{ name: 'price-tick', token: 1_767_000_000_001 }] },
    ];
    for (const [index, message] of sent.entries()) {
      await store.publish(message);
      // messages may overtake each other
      await eventually('the message arrives', () => messages[index]);
    }
    deepEqual(messages, sent);
  },

  'is sent by each release, with the holder and the token': async ({ store, other }) => {
    const messages = received(other);
    const { token } = await granted(store, acquireRequest('a#1'));
    await store.release({ name: 'price-tick', holder: 'a#1', token, update: {} });
    deepEqual(await first(messages), { kind: 'released', locks: [{ name: 'price-tick', holder: 'a#1', token }] });
  },

  'is not sent by the release of a lock of another holder': async ({ store, other, release }) => {
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
    const messages: StoreMessage[] = [];
    const stop = other.addListener({ message: (message) => messages.push(message) });
    stop();
    const control = received(other);
    await store.publish(GRANTED);
    await first(control);
    deepEqual(messages, []);
  },

  'reaches the other listeners of a replica when one of them throws': async ({ store, other }) => {
    other.addListener({
      message: () => {
        throw new Error('a broken listener');
      },
    });
    const messages = received(other);
    await store.publish(GRANTED);
    deepEqual(await first(messages), GRANTED);
  },
};

function received(store: LockStore): StoreMessage[] {
  const messages: StoreMessage[] = [];
  store.addListener({ message: (message) => messages.push(message) });
  return messages;
}

function first(messages: readonly StoreMessage[]): Promise<StoreMessage> {
  return eventually('a message arrives', () => messages.at(0));
}
