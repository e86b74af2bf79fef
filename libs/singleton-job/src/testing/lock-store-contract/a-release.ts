import { deepEqual, ok } from 'node:assert/strict';
import { type LockStore, type ReleaseMessage } from '../../store/index.js';
import { answers } from './answers.js';
import { bidOf, eventually, granted } from './asking.js';
import { type Rules } from './scene.js';

export const A_RELEASE: Rules = {
  'is heard by every replica, the releasing one too: who, and which lock': async ({ store, other }) => {
    const [own, others] = [listenTo(store), listenTo(other)];
    await granted(store, bidOf('node-a7#1'));
    await store.release({ name: 'price-tick', holder: 'node-a7#1', progress: {}, quietly: false });
    const message = { by: 'node-a7', names: ['price-tick'], receivers: 0 };
    deepEqual(await first(own), message);
    deepEqual(await first(others), message);
  },

  'that is quiet is announced later, together with others': async ({ store, other }) => {
    const heard = listenTo(other);
    for (const name of ['one', 'two']) {
      await granted(store, bidOf('a#1', { name }));
      await store.release({ name, holder: 'a#1', progress: {}, quietly: true });
    }
    await store.announce('a', ['one', 'two']);
    await first(heard);
    deepEqual(heard, [{ by: 'a', names: ['one', 'two'], receivers: 0 }]);
  },

  'says how many heard the one before': async ({ world, store, other }) => {
    const heard = listenTo(other);
    await store.announce('a', ['one']);
    await store.announce('a', ['two']);
    await granted(store, bidOf('a#1'));
    await store.release({ name: 'price-tick', holder: 'a#1', progress: {}, quietly: false });
    await eventually('three messages arrive', () => heard.at(2));
    const counts = heard.map(({ receivers }) => receivers);
    if (world.countsPartOfReceivers !== true) deepEqual(counts, [0, 2, 2]);
    ok(
      counts.every((count) => count >= 0 && count <= 2),
      `two replicas cannot be heard by ${String(counts)}`,
    );
  },

  'of a lock that is not held tells nobody': async ({ store, other }) => {
    const heard = listenTo(other);
    await store.release({ name: 'price-tick', holder: 'a#1', progress: {}, quietly: false });
    await store.announce('a', ['the end']);
    deepEqual((await first(heard)).names, ['the end']);
  },

  'is not heard by who stopped listening': async ({ store, other }) => {
    const heard: ReleaseMessage[] = [];
    const stop = other.listen({ released: (message) => heard.push(message) });
    stop();
    const control = listenTo(other);
    await store.announce('a', ['one']);
    await first(control);
    deepEqual(heard, []);
  },

  'reaches the other listeners of a replica when one of them throws': async ({ store, other }) => {
    other.listen({
      released: () => {
        throw new Error('a broken listener');
      },
    });
    const heard = listenTo(other);
    await store.announce('a', ['one']);
    answers(await first(heard), { names: ['one'] });
  },
};

function listenTo(from: LockStore): ReleaseMessage[] {
  const heard: ReleaseMessage[] = [];
  from.listen({ released: (message) => heard.push(message) });
  return heard;
}

function first(heard: readonly ReleaseMessage[]): Promise<ReleaseMessage> {
  return eventually('a message arrives', () => heard.at(0));
}
