import './support/users.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobScheduler } from '../src/durable-jobs/job-scheduler.js';
import type { RunHistory } from '../src/history/run-history.js';
import type { AppRedis } from '../src/redis.js';
import { type ReportPayload, ReportHandler } from '../src/reports/report-handler.js';
import { ReportStore } from '../src/reports/report-store.js';
import { Submissions } from '../src/reports/submissions.js';
import { settings } from '../src/settings.js';

const PAYLOAD: ReportPayload = {
  owner: 'ada',
  title: 'x',
  from: 0,
  to: 1,
  job: null,
  outcomes: ['succeeded'],
  priority: 0,
  notify: false,
};

describe('a report', () => {
  it('saves no page when its signal has fired while the page was read', async () => {
    const cancellation = new AbortController();
    const history = {
      oldest: () => 0,
      page: () => {
        cancellation.abort(new Error('cancelled'));
        return [{ id: '1-0' }];
      },
    };
    const saved: string[] = [];
    const store = { checkpoint: () => undefined, savePage: (id: string) => saved.push(id) };
    const handler = new ReportHandler(history as unknown as RunHistory, store as unknown as ReportStore);
    const ignore = async () => {};
    const context = {
      id: 'a',
      signal: cancellation.signal,
      progress: ignore,
      updatePayload: ignore,
      throwIfStopping: () => {},
    };
    await assert.rejects(handler.write(PAYLOAD, context), /cancelled/);
    assert.deepEqual(saved, []);
  });

  it('has no result, and begins anew, when pages have expired while it was written', async () => {
    const deleted: string[] = [];
    const redis = { hgetall: () => ({ cursor: '2-0', 'page-000002': 'b' }), del: (name: string) => deleted.push(name) };
    const store = new ReportStore(redis as unknown as AppRedis);
    await assert.rejects(store.storeResult('a', 'header', 2), /expired/);
    assert.deepEqual(deleted, ['reports:checkpoint:a']);
  });

  it('is not listed when it cannot be enqueued', async () => {
    const scheduler = { enqueue: () => Promise.reject(new Error('no connection')) };
    const redis = { multi: () => assert.fail('listed') };
    const submissions = new Submissions(scheduler as unknown as JobScheduler, redis as unknown as AppRedis);
    const [user] = settings.users;
    assert.ok(user);
    await assert.rejects(submissions.submit(user, PAYLOAD), /no connection/);
  });
});
