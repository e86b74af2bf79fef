import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobInfo } from '../src/durable-jobs/job-store.js';
import { usersWith } from './support/client.js';
import { until } from './support/processes.js';
import { type Replica, World } from './support/world.js';

const SECRET = `whsec_${Buffer.from('a secret of ada, 24 bytes').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret, 24 bytes!').toString('base64')}`;
const usersAt = ({ url }: Replica) => usersWith({ url, secret: SECRET });
const handled = ({ output }: Replica) =>
  [...output().matchAll(/handled (.*)/g)].map(([, body]) => JSON.parse(body ?? '') as object);
const deliveries = ({ output }: Replica) =>
  [...output().matchAll(/delivery (\S+) at (\d+)/g)].map(([, id, at]) => ({ id, at: Number(at) }));

describe('webhooks', () => {
  it('announce the end of a report once, at once or after the retry delays', async () => {
    const delays = [100, 200, 300, 400, 500];
    await using world = await World.start({ WEBHOOK_RETRY_DELAYS_MS: delays.join(',') });
    const receiver = await world.receiver({ SECRET, FAILURES: 5 });
    const USERS = usersAt(receiver);
    const [web, worker] = await Promise.all([world.program('web', { USERS }), world.worker({ USERS })]);
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
    // a delivery that is cancelled leaves its report alone
    const silent = await web.submit({ notify: true });
    assert.equal(await web.call('jobs', 'cancel', `webhook-${silent}`), true);
    const slow = await world.program('worker', { USERS, PAGE_TAKES_MS: 20_000 });
    await until('the webhook', () => handled(receiver).length > 1);
    assert.deepEqual(handled(receiver)[1], { report: cancelled, status: 'Cancelled', error: null });

    const running = await web.submit({ notify: true });
    await web.untilStatus(running, 'Running');
    const { status } = await web.request(`/api/reports/${running}`, { method: 'DELETE' });
    // 204: the worker has ended the run before the answer was sent
    assert.ok([202, 204].includes(status), `answered ${String(status)}`);
    await until('the webhook', () => handled(receiver).length > 2);
    assert.deepEqual(handled(receiver)[2], { report: running, status: 'Cancelled', error: null });

    await slow.replica.stop('SIGKILL');
    await world.worker({ USERS });
    await web.untilStatus(silent, 'Completed');
    assert.equal((await web.request(`/api/reports/${silent}/result`)).status, 200);
    assert.equal(handled(receiver).length, 3);
  });

  it('announce the death of a report once, although a person retries it before they arrive', async () => {
    await using world = await World.start({
      REPORT_TIMEOUT_MS: 300,
      REPORT_RETRY_DELAY_MS: 10,
      WEBHOOK_RETRY_DELAYS_MS: '200,200,200,200,200',
    });
    const receiver = await world.receiver({ SECRET, FAILURES: 2 });
    const USERS = usersAt(receiver);
    const [web] = await Promise.all([
      world.program('web', { USERS }),
      world.program('worker', { USERS, PAGE_TAKES_MS: 60_000 }),
    ]);
    const report = await web.submit({ notify: true });
    await until('the first delivery', () => deliveries(receiver).length > 0);
    assert.equal((await web.request(`/api/reports/${report}/retry`, { method: 'POST' })).status, 202);
    await until('the webhook', () => handled(receiver).length > 0);
    const error = 'It took longer than 0.3 s. Choose a shorter span of time.';
    assert.deepEqual(handled(receiver), [{ report, status: 'DeadLettered', error }]);
    const webhook = () => web.call<JobInfo>('store', 'getStatus', `webhook-${report}`);
    await until('the end of the webhook', async () => (await webhook()).completedAt);
    assert.deepEqual([(await webhook()).status, deliveries(receiver).length], ['Completed', 3]);
  });

  it('fail for good after five retries, and hold up nothing else', async () => {
    await using world = await World.start({ WEBHOOK_RETRY_DELAYS_MS: '50,50,50,50,50' });
    const receiver = await world.receiver({ SECRET: OTHER });
    const USERS = usersAt(receiver);
    const [web] = await Promise.all([world.program('web', { USERS }), world.worker({ USERS })]);
    const id = await web.submit({ notify: true });
    const dead = () => web.call<JobInfo[]>('store', 'getJobs', 'DeadLettered');
    await until('a dead webhook', async () => (await dead()).length > 0);
    const [webhook, ...others] = await dead();
    const error = 'the receiver answered 401';
    assert.deepEqual([webhook?.id, webhook?.error, others.length], [`webhook-${id}`, error, 0]);
    assert.deepEqual([deliveries(receiver).length, handled(receiver).length], [6, 0]);
    await web.untilStatus(id, 'Completed');
  });
});
