import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import fc from 'fast-check';
import {
  after,
  CANCELLED_REASON,
  hasEnded,
  type JobStatus,
  statusOf,
  type Transition,
} from '../src/durable-jobs/job-states.js';
import type { JobInfo } from '../src/durable-jobs/job-store.js';
import { World } from './support/world.js';

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

const RETRIES = 1;
/** What a worker does with the job that it has claimed. */
const ENDS: Readonly<Partial<Record<Transition, (job: Job, token: string) => Promise<unknown>>>> = {
  complete: (job, token) => job.moveToCompleted('done', token, false),
  fail: (job, token) => job.moveToFailed(new Error('failure'), token),
  failForGood: (job, token) => job.moveToFailed(new UnrecoverableError('failure'), token),
  giveBack: (job, token) => job.moveToWait(token),
};

describe('the status of a job', () => {
  it('leaves DeadLettered by retry only, and never leaves Completed or Cancelled, in a real queue', async () => {
    await using world = await World.start();
    const web = await world.program('web');
    const scheduler = <T>(method: string, ...args: unknown[]) => web.call<T>('scheduler', method, ...args);
    const options = { connection: { url: world.redis.url }, prefix: 'reports' };
    const queue = new Queue('durable-jobs', options);
    const worker = new Worker('durable-jobs', null, options);
    let token = 0;

    /** Does to a job what a transition says, also if its status does not permit it. Returns what the scheduler answers. */
    const change = async (id: string, transition: Transition, status: JobStatus, claimed?: Job) => {
      if (transition === 'retry') return scheduler<boolean>('retry', id);
      if (transition === 'retryDelayOver') await (await queue.getJob(id))?.promote().catch(() => undefined);
      if (claimed) await ENDS[transition]?.(claimed, claimed.token ?? '').catch(() => undefined);
      if (transition !== 'cancel') return undefined;
      const answer = await scheduler<boolean>('cancel', id);
      // as the worker does that receives the cancellation
      if (status === 'Running')
        await claimed?.moveToFailed(new UnrecoverableError(CANCELLED_REASON), claimed.token ?? '');
      return answer;
    };

    const run = async (transitions: readonly Transition[]): Promise<JobStatus[]> => {
      const config = { retries: RETRIES, retryDelay: 60_000 };
      await queue.obliterate({ force: true });
      const id = await scheduler<string>('scheduleRaw', 'echo', {}, config, new Date().toISOString());
      let status: JobStatus = 'Pending';
      let failures = 0;
      let claimed: Job | undefined;
      const seen: JobStatus[] = [status];
      for (const one of transitions) {
        const transition = one === 'fail' && failures === RETRIES ? 'failForGood' : one;
        // a job that waits is dead only when its workers were killed too often
        if (transition === 'failForGood' && status === 'Pending') continue;
        const next = after(status, transition);
        const job = transition === 'claim' ? await worker.getNextJob(String(++token), { block: false }) : undefined;
        claimed = job ?? claimed;
        const answer = await change(id, transition, status, claimed);
        if (answer !== undefined) assert.equal(answer, next !== undefined, `${transition} of a ${status} job`);
        if (transition === 'retry' && status === 'DeadLettered') failures = 0;
        if (transition === 'fail' && status === 'Running') failures++;
        const real = (await scheduler<JobInfo>('getStatus', id)).status;
        assert.equal(real, next ?? status, `${transition} of a ${status} job`);
        if (status === 'DeadLettered' && real !== status) assert.equal(transition, 'retry');
        if (status === 'Completed' || status === 'Cancelled') assert.equal(real, status);
        status = real;
        seen.push(status);
      }
      return seen;
    };

    try {
      const all = await run(['claim', 'giveBack', 'claim', 'fail', 'cancel']);
      // a retry of a dead job gives it all its retries again
      const dies: Transition[] = ['claim', 'fail', 'retry', 'claim', 'fail', 'cancel', 'retry'];
      all.push(...(await run([...dies, ...dies, 'claim', 'complete', 'retry'])));
      assert.deepEqual([...new Set(all)].sort(), [...STATUSES].sort());
      const any = fc.array(fc.constantFrom('claim', ...TRANSITIONS), { minLength: 5, maxLength: 15 });
      await fc.assert(
        fc.asyncProperty(any, async (transitions) => {
          await run(transitions);
        }),
        { numRuns: 40 },
      );
    } finally {
      await Promise.all([queue.close(), worker.close(true)]);
    }
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
});
