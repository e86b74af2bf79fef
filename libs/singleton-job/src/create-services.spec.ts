import { describe, expect, it } from '@jest/globals';
import { createReplicaId, createServices, createStore } from './create-services.js';
import { resolveOptions } from './options/resolve-options.js';
import { type Store, type StoreListener } from './store/store.js';

describe('A replica', () => {
  it('sends events to the observers of its options at once, and to others once they are added', async () => {
    const [first, second]: [string[], string[]] = [[], []];
    const observers = [{ warning: ({ code }: { code: string }) => first.push(code) }];
    const options = resolveOptions({ projectName: 'p', store: 'memory', observers });
    const listeners: StoreListener[] = [];
    const addListener = (one: StoreListener) => (listeners.push(one), () => undefined);
    const store: Store = { ...(await createStore(options)), addListener };
    const replica = createServices(options, { store });
    const happens = (code: string): void => {
      for (const listener of listeners) listener.warning?.({ code, message: 'no matter' });
    };
    happens('first');
    replica.observers.push({ warning: ({ code }) => second.push(code) });
    happens('second');
    expect([first, second]).toEqual([['first', 'second'], ['second']]);
  });

  it('has an id that starts with its nodeId and ends with a unique part', () => {
    expect(createReplicaId('pod-7')).toMatch(/^pod-7-[0-9a-f]{8}$/);
    expect(createReplicaId('pod-7')).not.toBe(createReplicaId('pod-7'));
  });
});
