import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobInfo } from '../src/durable-jobs/job-store.js';
import { sign, verifyWebhook } from '../src/webhooks/verify-webhook.js';
import { TOKENS } from './support/client.js';
import { until } from './support/processes.js';
import { type Replica, World } from './support/world.js';

const SECRET = 'a secret of ada';
const usersWith = (url: string) =>
  JSON.stringify([{ name: 'ada', token: TOKENS.ada, webhook: { url, secret: SECRET } }]);
const handled = ({ output }: Replica) =>
  [...output().matchAll(/handled (.*)/g)].map(([, body]) => JSON.parse(body ?? '') as object);
const deliveries = ({ output }: Replica) =>
  [...output().matchAll(/delivery (\S+) at (\d+)/g)].map(([, id, at]) => ({ id, at: Number(at) }));

describe('webhooks', () => {
  it('announce the end of a report once, at once or after the retry delays', async () => {
    const delays = [300, 500, 700, 900, 1_100];
    await using world = await World.start({ WEBHOOK_RETRY_DELAYS_MS: delays.join(',') });
    const receiver = await world.receiver({ SECRET, FAILURES: 5 });
    const USERS = usersWith(receiver.url);
    const [web, worker] = await Promise.all([world.web({ USERS }), world.worker({ USERS })]);
    const id = await web.submit({ notify: true });
    await until('the webhook', () => handled(receiver).length > 0);
    assert.deepEqual(handled(receiver), [{ report: id, status: 'Completed', error: null }]);
    const sent = deliveries(receiver);
    assert.deepEqual([sent.length, new Set(sent.map((one) => one.id)).size], [6, 1]);
    for (const [n, wanted] of delays.entries()) {
      const waited = (sent[n + 1]?.at ?? 0) - (sent[n]?.at ?? 0);
      assert.ok(waited >= wanted - 5, `retry ${String(n + 1)} after ${String(waited)} ms`);
    }
    await worker.stop();

    // a report that is cancelled while it waits, or while it runs, is announced as well
    const cancelled = await web.submit({ notify: true });
    assert.equal((await web.request(`/api/reports/${cancelled}`, { method: 'DELETE' })).status, 204);
    await world.program('worker', { USERS, PAGE_TAKES_MS: 20_000 });
    await until('the webhook', () => handled(receiver).length > 1);
    assert.deepEqual(handled(receiver)[1], { report: cancelled, status: 'Cancelled', error: null });

    const running = await web.submit({ notify: true });
    await web.untilStatus(running, 'Running');
    const { status } = await web.request(`/api/reports/${running}`, { method: 'DELETE' });
    // 204: the worker has ended the run before the answer was sent
    assert.ok([202, 204].includes(status), `answered ${String(status)}`);
    await until('the webhook', () => handled(receiver).length > 2);
    const error = 'cancelled by its owner';
    assert.deepEqual(handled(receiver)[2], { report: running, status: 'Cancelled', error });
  });

  it('announce a report that is dead', async () => {
    await using world = await World.start({ REPORT_TIMEOUT_MS: 100, REPORT_RETRY_DELAY_MS: 10 });
    const receiver = await world.receiver({ SECRET });
    const USERS = usersWith(receiver.url);
    const [web] = await Promise.all([
      world.program('web', { USERS }),
      world.program('worker', { USERS, PAGE_TAKES_MS: 60_000 }),
    ]);
    const report = await web.submit({ notify: true });
    await until('the webhook', () => handled(receiver).length > 0);
    assert.deepEqual(handled(receiver), [
      { report, status: 'DeadLettered', error: `${report} timed out after 100 ms` },
    ]);
    const { maxRetries, retryDelay } = await web.call<JobInfo>('scheduler', 'getStatus', `webhook-${report}`);
    assert.deepEqual([maxRetries, retryDelay], [5, [1_000, 5_000, 30_000, 300_000, 1_800_000]]);
  });

  it('announce the death of a report once, although a person retries it before they arrive', async () => {
    await using world = await World.start({
      REPORT_TIMEOUT_MS: 300,
      REPORT_RETRY_DELAY_MS: 10,
      WEBHOOK_RETRY_DELAYS_MS: '200,200,200,200,200',
    });
    const receiver = await world.receiver({ SECRET, FAILURES: 2 });
    const USERS = usersWith(receiver.url);
    const [web] = await Promise.all([
      world.program('web', { USERS }),
      world.program('worker', { USERS, PAGE_TAKES_MS: 60_000 }),
    ]);
    const report = await web.submit({ notify: true });
    await until('the first delivery', () => deliveries(receiver).length > 0);
    assert.equal((await web.request(`/api/reports/${report}/retry`, { method: 'POST' })).status, 202);
    await until('the webhook', () => handled(receiver).length > 0);
    assert.deepEqual(handled(receiver), [
      { report, status: 'DeadLettered', error: `${report} timed out after 300 ms` },
    ]);
    const webhook = () => web.call<JobInfo>('scheduler', 'getStatus', `webhook-${report}`);
    await until('the end of the webhook', async () => (await webhook()).completedAt);
    assert.deepEqual([(await webhook()).status, deliveries(receiver).length], ['Completed', 3]);
  });

  it('fail for good after five retries, and hold up nothing else', async () => {
    await using world = await World.start({ WEBHOOK_RETRY_DELAYS_MS: '50,50,50,50,50' });
    const receiver = await world.receiver({ SECRET: 'another secret' });
    const USERS = usersWith(receiver.url);
    const [web] = await Promise.all([world.program('web', { USERS }), world.worker({ USERS })]);
    const id = await web.submit({ notify: true });
    const dead = () => web.call<JobInfo[]>('store', 'getDeadLetter');
    await until('a dead webhook', async () => (await dead()).length > 0);
    const [webhook, ...others] = await dead();
    const error = 'the receiver answered 401';
    assert.deepEqual([webhook?.id, webhook?.error, others.length], [`webhook-${id}`, error, 0]);
    assert.deepEqual([deliveries(receiver).length, handled(receiver).length], [6, 0]);
    await web.untilStatus(id, 'Completed');
  });

  it('are verified: the signature, the time window of five minutes, and each id once', async () => {
    const now = Date.now();
    const rawBody = Buffer.from('{"a": 1}');
    const seen = new Set<string>();
    const isNew = (id: string) => !seen.has(id) && seen.add(id).size > 0;
    const verdict = (change: { id?: string; at?: number; body?: string; secret?: string; signature?: string } = {}) => {
      const timestamp = String(Math.floor((change.at ?? now) / 1_000));
      const signature = change.signature ?? `v1=${sign(SECRET, 'id-1', timestamp, rawBody)}`;
      const headers = {
        'webhook-id': change.id ?? 'id-1',
        'webhook-timestamp': timestamp,
        'webhook-signature': signature,
      };
      const body = change.body === undefined ? rawBody : Buffer.from(change.body);
      return verifyWebhook({ headers, rawBody: body, secret: change.secret ?? SECRET, isNew, now });
    };
    assert.equal(await verdict({ body: '{"a":1}' }), 'bad signature');
    assert.equal(await verdict({ id: 'id-2' }), 'bad signature');
    assert.equal(await verdict({ secret: 'b' }), 'bad signature');
    assert.equal(await verdict({ signature: '' }), 'bad signature');
    assert.equal(await verdict({ at: now - 302_000 }), 'outside the time window');
    assert.equal(await verdict({ at: now + 302_000 }), 'outside the time window');
    assert.equal(await verifyWebhook({ headers: {}, rawBody, secret: SECRET, isNew }), 'bad signature');
    assert.equal(await verdict({ at: now - 298_000 }), 'accepted');
    assert.equal(await verdict(), 'duplicate');
  });
});
