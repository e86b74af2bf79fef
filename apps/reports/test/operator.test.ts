import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JobAttempt, JobInfo } from '../src/durable-jobs/job-store.js';
import { TOKENS, usersWith } from './support/client.js';
import { until } from './support/processes.js';
import { World } from './support/world.js';

it('an operator lists, retries and cancels the jobs of all users and types', async () => {
  const USERS = usersWith({ url: 'http://127.0.0.1:1', secret: `whsec_${'a'.repeat(32)}` });
  await using world = await World.start({ USERS, WEBHOOK_RETRY_DELAYS_MS: '1,1,1,1,1', REPORT_RETRY_DELAY_MS: 1 });
  const [web] = await Promise.all([
    world.web({ REPORT_TIMEOUT_MS: 100 }),
    world.program('worker', { PAGE_TAKES_MS: 20_000 }),
  ]);
  const ask = (path: string, method = 'GET') => web.request(`/api/operator/jobs${path}`, { method, as: 'operator' });
  const read = async <T>(path: string) => (await (await ask(path)).json()) as T;
  const list = (status?: string) => read<JobInfo[]>(status === undefined ? '' : `?status=${status}`);

  // the daily report, which no user may retry, the report of a user, and its webhook
  const mine = await web.submit({ notify: true });
  await until('three dead jobs', async () => (await list()).length === 3);
  const dead = await list();
  assert.deepEqual(dead.map(({ type }) => type).sort(), ['report', 'report', 'webhook']);
  const daily = dead.find(({ payload }) => (payload as { owner?: null }).owner === null);
  for (const as of ['ada', 'bob'] as const) {
    const response = await web.request(`/api/reports/${daily?.id ?? ''}/retry`, { method: 'POST', as });
    assert.equal(response.status, 404);
  }
  const webhook = await read<JobInfo & { history: JobAttempt[] }>(`/webhook-${mine}`);
  assert.equal(webhook.error, 'fetch failed');
  assert.ok(webhook.history.length >= 6);
  for (const { id } of dead) assert.equal((await ask(`/${id}/retry`, 'POST')).status, 202);
  await until('their deaths', async () => (await list()).length === 3);
  const { history } = await read<typeof webhook>(`/webhook-${mine}`);
  assert.ok(history.length >= webhook.history.length + 6);

  assert.equal((await ask(`/${mine}`, 'DELETE')).status, 409);
  const another = await web.submit({ job: 'other' });
  assert.equal((await ask(`/${another}`, 'DELETE')).status, 202);
  await until('the cancellation', async () => (await list('Cancelled')).some(({ id }) => id === another));
  assert.equal((await ask(`/${another}/retry`, 'POST')).status, 409);
  assert.equal((await ask('/unknown')).status, 404);
  assert.equal((await ask('?status=Lost')).status, 400);

  // each token opens its own door
  for (const token of [TOKENS.ada, 'a-wrong-token-0123456789']) {
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await web.request('/api/operator/jobs', { headers })).status, 401);
  }
  assert.equal((await web.request('/api/reports', { as: 'operator' })).status, 401);
});
