import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { resolveOptions } from '../options/resolve-options.js';
import { type Store, type StoreListener } from '../store/store.js';
import { createReplica, createReplicaId, createStore } from './create-replica.js';

describe('A replica', () => {
  it('sends events to the channels at once, and to observers once they are found', async () => {
    const options = resolveOptions({ projectName: 'p', store: 'memory' });
    const listeners: StoreListener[] = [];
    const addListener = (one: StoreListener) => (listeners.push(one), () => undefined);
    const store: Store = { ...(await createStore(options)), addListener };
    const { observers } = createReplica(options, { store });
    const channel: unknown[] = [];
    const listen = (message: unknown): void => void channel.push(message);
    const observed: string[] = [];
    const happens = (code: string): void => {
      for (const listener of listeners) listener.warning?.({ code, message: 'no matter' });
    };
    subscribe('nestjs-singleton-job:warning', listen);
    happens('first');
    observers.push({ warning: ({ code }) => observed.push(code) });
    happens('second');
    unsubscribe('nestjs-singleton-job:warning', listen);
    expect(channel).toMatchObject([{ code: 'first' }, { code: 'second' }]);
    expect(observed).toEqual(['second']);
  });

  it('has an id that starts with its nodeId and ends with a unique part', () => {
    expect(createReplicaId('pod-7')).toMatch(/^pod-7-[0-9a-f]{8}$/);
    expect(createReplicaId('pod-7')).not.toBe(createReplicaId('pod-7'));
  });
});
