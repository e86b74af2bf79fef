import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  after,
  CANCELLED_REASON,
  hasEnded,
  type JobStatus,
  statusOf,
  type Transition,
} from '../src/durable-jobs/job-states.js';

const STATUSES: JobStatus[] = ['Pending', 'Running', 'Completed', 'Failed', 'DeadLettered', 'Cancelled'];
const TRANSITIONS: Transition[] = [
  'claim',
  'complete',
  'fail',
  'failForGood',
  'retryDelayOver',
  'giveBack',
  'cancel',
  'retry',
];

describe('the status of a job', () => {
  it('leaves DeadLettered by retry only, and never leaves Completed or Cancelled', () => {
    const sequences = fc.array(fc.constantFrom(...TRANSITIONS), { maxLength: 30 });
    fc.assert(
      fc.property(fc.constantFrom(...STATUSES), sequences, (first, transitions) => {
        let status = first;
        for (const transition of transitions) {
          const next = after(status, transition);
          if (next === undefined) continue;
          assert.ok(status !== 'Completed' && status !== 'Cancelled');
          if (status === 'DeadLettered') assert.deepEqual([transition, next], ['retry', 'Pending']);
          status = next;
        }
      }),
    );
  });

  it('is known for every state that BullMQ has, and is final only where BullMQ has finished the job', () => {
    const states = [
      'waiting',
      'prioritized',
      'delayed',
      'active',
      'completed',
      'failed',
      'waiting-children',
      'unknown',
    ];
    const jobs = fc.record({ attemptsMade: fc.nat(20), failedReason: fc.option(fc.string(), { nil: undefined }) });
    fc.assert(
      fc.property(fc.constantFrom(...states), jobs, (state, { attemptsMade, failedReason }) => {
        const status = statusOf(state, { attemptsMade, ...(failedReason !== undefined && { failedReason }) });
        assert.equal(hasEnded(status), state === 'completed' || state === 'failed');
      }),
    );
    assert.equal(statusOf('failed', { attemptsMade: 1, failedReason: CANCELLED_REASON }), 'Cancelled');
    assert.equal(statusOf('delayed', { attemptsMade: 1 }), 'Failed');
    assert.equal(statusOf('delayed', { attemptsMade: 0 }), 'Pending');
  });

  it('reaches every status from Pending', () => {
    const reached = new Set<JobStatus>(['Pending']);
    for (const status of reached) for (const one of TRANSITIONS) reached.add(after(status, one) ?? status);
    assert.deepEqual([...reached].sort(), [...STATUSES].sort());
  });
});
