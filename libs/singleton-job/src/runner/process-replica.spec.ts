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
});
