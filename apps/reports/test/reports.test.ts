import './support/users.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunHistory } from '../src/history/run-history.js';
import { type ReportPayload, ReportHandler } from '../src/reports/report-handler.js';
import type { ReportStore } from '../src/reports/report-store.js';

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

describe('the handler of reports', () => {
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
    const context = { id: 'a', signal: cancellation.signal, progress: async () => {}, throwIfStopping: () => {} };
    await assert.rejects(handler.write(PAYLOAD, context), /cancelled/);
    assert.deepEqual(saved, []);
  });
});
