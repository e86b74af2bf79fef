import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { resolveOptions } from '../options/resolve-options.js';
import { createReplica, createReplicaId, createStore } from './create-replica.js';

describe('A replica', () => {
  it('sends events to the channels at once, and to observers once they are found', async () => {
    const options = resolveOptions({ projectName: 'p', store: 'memory' });
    const { leadership, observers } = createReplica(options, { store: await createStore(options) });
    const channel: unknown[] = [];
    const listen = (message: unknown): void => void channel.push(message);
    const observed: string[] = [];
    const happens = (job: string): void => {
      leadership.context.notify('leaseRenewed', { job, fencingToken: 1, roundTripMs: 1, clockOffsetMs: 0 });
    };
    subscribe('nestjs-singleton-job:leaseRenewed', listen);
    happens('first');
    observers.push({ leaseRenewed: ({ job }) => observed.push(job) });
    happens('second');
    unsubscribe('nestjs-singleton-job:leaseRenewed', listen);
    expect(channel).toMatchObject([{ job: 'first' }, { job: 'second' }]);
    expect(observed).toEqual(['second']);
  });

  it('has an id that starts with its nodeId and ends with a unique part', () => {
    expect(createReplicaId('pod-7')).toMatch(/^pod-7-[0-9a-f]{8}$/);
    expect(createReplicaId('pod-7')).not.toBe(createReplicaId('pod-7'));
  });
});
