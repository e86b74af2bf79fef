import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { resolveOptions } from '../options/index.js';
import { ProcessReplica } from './process-replica.js';

describe('The observers of an application', () => {
  it('are told once of what happened before they were found, and then of the rest', () => {
    const replica = new ProcessReplica(resolveOptions({ projectName: 'p', store: 'memory' }));
    const told: string[] = [];
    const happens = (job: string): void => {
      replica.notify('leaseRenewed', { job, fencingToken: 1, roundTripMs: 1, clockOffsetMs: 0 });
    };
    happens('first');
    happens('second');
    replica.observe({ leaseRenewed: ({ job }) => told.push(job) });
    expect(told).toEqual(['first', 'second']);
    replica.observe({});
    happens('third');
    expect(told).toEqual(['first', 'second', 'third']);
  });

  it('are told of the first few hundred, and the log of who fails at them', () => {
    const replica = new ProcessReplica(resolveOptions({ projectName: 'p', store: 'memory' }));
    for (let n = 0; n < 600; n++) {
      replica.notify('leaseRenewed', { job: String(n), fencingToken: 1, roundTripMs: 1, clockOffsetMs: 0 });
    }
    const told: string[] = [];
    const logged: unknown[] = [];
    const listen = (message: unknown): void => void logged.push(message);
    subscribe('nestjs-singleton-job:observerFailed', listen);
    const error = new Error('boom');
    const fail = ({ job }: { job: string }): void => {
      told.push(job);
      if (told.length === 1) throw error;
    };
    replica.observe({ leaseRenewed: fail });
    unsubscribe('nestjs-singleton-job:observerFailed', listen);
    expect([told.length, told[0]]).toEqual([500, '0']);
    expect(logged).toMatchObject([{ event: 'leaseRenewed', error }]);
  });
});
