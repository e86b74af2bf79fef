import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobInfo } from '../src/durable-jobs/job-store.js';
import { type Client, usersWith } from './support/client.js';
import { until } from './support/processes.js';
import { World } from './support/world.js';

const RUNS = 700;
const DAY = 86_400_000;
const THREE_HOURS = DAY / 8;
const post = (web: Client, body: unknown, headers = {}) =>
  web.request('/api/reports', { method: 'POST', body, headers });
const PAYLOAD = { owner: 'ada', title: 'x', from: 0, to: 1, job: null, outcomes: [], priority: 0, notify: false };
/** Jobs that a worker may claim. */
const WAITING = /^bullmq_queue_jobs.*prioritized/;
const idOf = ({ id }: { id: string }) => id;
const header = (response: Response, name: string) => response.headers.get(name);

describe('the reports over HTTP', () => {
  let world: World;
  let web: Client;
  let other: Client;
  before(async () => {
    world = await World.start({ REPORT_RETRY_DELAY_MS: 50 }, { runs: RUNS });
    [web, other] = await Promise.all([world.web(), world.web()]);
  });
  after(() => world[Symbol.asyncDispose]());

  it('are accepted with 202, wait with 200, and are cancelled with 204', async () => {
    const accepted = await post(web, { title: 'Mine' });
    assert.deepEqual([accepted.status, header(accepted, 'retry-after')], [202, '5']);
    const url = header(accepted, 'location') ?? '';
    assert.match(url, /^\/api\/reports\/report-/);

    const waiting = await web.request(url);
    assert.deepEqual([waiting.status, header(waiting, 'retry-after')], [200, '3']);
    assert.equal(header(waiting, 'cache-control'), 'no-store, must-revalidate');
    assert.equal(((await accepted.json()) as JobInfo).status, 'Pending');
    const { title, status, progress } = (await waiting.json()) as JobInfo & { title: string };
    assert.deepEqual({ title, status, progress }, { title: 'Mine', status: 'Pending', progress: null });
    assert.equal((await web.request(`${url}/result`)).status, 409);
    assert.equal((await web.request(`${url}/retry`, { method: 'POST' })).status, 409);

    assert.equal((await web.request(url, { method: 'DELETE' })).status, 204);
    const cancelled = await web.request(url);
    assert.equal(header(cancelled, 'cache-control'), 'private, max-age=3600');
    assert.equal(((await cancelled.json()) as JobInfo).status, 'Cancelled');
    assert.equal((await web.request(url, { method: 'DELETE' })).status, 409);
    assert.equal((await web.request(`${url}/result`)).status, 409);
  });

  it('are one for each idempotency key and user, on any replica, and stay cancelled', async () => {
    const body = { title: 'Once', outcomes: ['failed', 'succeeded'] };
    const key = { 'idempotency-key': 'key-1' };
    const [first, second] = await Promise.all([
      post(web, body, key),
      post(other, { ...body, outcomes: ['succeeded', 'failed'] }, key),
    ]);
    assert.deepEqual([first.status, second.status], [202, 202]);
    assert.equal(header(second, 'location'), header(first, 'location'));
    assert.deepEqual(await second.json(), await first.json());
    assert.equal((await post(other, { title: 'Another' }, key)).status, 422);
    const ofBob = await web.request('/api/reports', { method: 'POST', body, headers: key, as: 'bob' });
    assert.notEqual(header(ofBob, 'location'), header(first, 'location'));

    const url = header(first, 'location') ?? '';
    assert.equal((await web.request(url, { method: 'DELETE' })).status, 204);
    assert.equal((await post(web, body, key)).status, 202);
    assert.equal(((await (await web.request(url)).json()) as JobInfo).status, 'Cancelled');
  });

  it('answer 404 for an unknown report and for one of another user, and 401 without a token', async () => {
    const id = await web.submit();
    const routes = ['', '/result', '/progress'].map((path) => `/api/reports/${id}${path}`);
    for (const route of routes) assert.equal((await web.request(route, { as: 'bob' })).status, 404, route);
    for (const [path, method] of [
      ['', 'DELETE'],
      ['/retry', 'POST'],
    ] as const) {
      assert.equal((await web.request(`/api/reports/${id}${path}`, { method, as: 'bob' })).status, 404);
    }
    for (const unknown of ['report-1', 'meta', '1', 'webhook-1', '%00', 'a:b']) {
      const response = await web.request(`/api/reports/${unknown}`);
      assert.deepEqual(
        [response.status, header(response, 'cache-control')],
        [404, 'no-store, must-revalidate'],
        unknown,
      );
    }
    for (const authorization of ['', 'Bearer wrong-token-0123456789', 'Basic ada']) {
      const response = await web.request(routes[0] ?? '', { headers: { authorization } });
      assert.deepEqual([response.status, header(response, 'www-authenticate')], [401, 'Bearer']);
    }
    const list = async (as: 'ada' | 'bob') => (await (await web.request('/api/reports', { as })).json()) as JobInfo[];
    assert.ok((await list('ada')).some((info) => info.id === id));
    assert.ok(!(await list('bob')).some((info) => info.id === id));
  });

  it('answer 400 with all problems of a request at once', async () => {
    const wrong: [unknown, ...string[]][] = [
      ['{', 'JSON'],
      ['[]', 'body'],
      ['', 'body'],
      [{}, 'title'],
      [{ title: 5 }, 'title'],
      [{ title: '  ' }, 'title'],
      [{ title: 'x'.repeat(101) }, 'title'],
      [{ title: 'x', from: 'yesterday' }, 'from'],
      [{ title: 'x', from: 1_700_000_000 }, 'from'],
      [{ title: 'x', from: '2026-02-40T00:00:00Z' }, 'from'],
      [{ title: 'x', from: '2999-01-01T00:00:00Z' }, 'future'],
      [{ title: 'x', from: '1969-01-01T00:00:00Z' }, '1970'],
      [{ title: 'x', to: '2026-01-01' }, 'to: must be'],
      [{ title: 'x', from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'before'],
      [{ title: 'x', job: 7 }, 'job'],
      [{ title: 'x', job: 'a b' }, 'job'],
      [{ title: 'x', outcomes: 'failed' }, 'outcomes'],
      [{ title: 'x', outcomes: [] }, 'outcomes'],
      [{ title: 'x', outcomes: ['failed', 'failed'] }, 'twice'],
      [{ title: 'x', outcomes: ['lost'] }, 'outcomes'],
      [{ title: 'x', priority: 11 }, 'priority'],
      [{ title: 'x', priority: 1.5 }, 'priority'],
      [{ title: 'x', notify: 'yes' }, 'notify'],
      [{ title: 'x', colour: 'red' }, 'colour'],
      [{ from: 'now', priority: -1, colour: 1 }, 'title', 'from', 'priority', 'colour'],
    ];
    for (const [body, ...expected] of wrong) {
      const response = await post(web, body);
      const text = await response.text();
      assert.equal(response.status, 400, `${JSON.stringify(body)}: ${text}`);
      for (const problem of expected) assert.ok(text.includes(problem), `${text} names ${problem}`);
    }
    const key = await post(web, { priority: 11 }, { 'idempotency-key': 'x'.repeat(65) });
    assert.equal(((await key.json()) as { problems: string[] }).problems.length, 3);
    const response = await post(web, { title: 'x', notify: true });
    assert.equal(response.status, 422, 'there is no webhook');
    for (const query of ['offset=-1', 'limit=101', 'limit=x']) {
      assert.equal((await web.request(`/api/reports?${query}`)).status, 400, query);
    }
  });

  it('forget a client that leaves the stream of a report that waits', async () => {
    const streams = () => web.metric(/^durable_jobs_progress_streams/);
    const id = await web.submit();
    const leave = new AbortController();
    await assert.rejects(async () => {
      for await (const info of web.progress(id, leave.signal)) {
        assert.deepEqual([info.status, await streams()], ['Pending', 1]);
        leave.abort();
      }
    }, /abort/);
    await until('no stream', async () => (await streams()) === 0);
  });

  it('end the stream of a report that waits, when it has been open for its limit', async () => {
    const brief = await world.web({ STREAM_LIMIT_MS: 500 });
    const seen: JobInfo[] = [];
    for await (const info of brief.progress(await brief.submit())) seen.push(info);
    assert.deepEqual([seen.length, seen[0]?.status], [1, 'Pending']);
    assert.equal(await brief.metric(/^durable_jobs_progress_streams/), 0);
    await brief.replica.stop();
  });

  it('run, answer 303 when they are done, and give their result with 200', async () => {
    const worker = await world.worker();
    const id = await web.submit();
    await web.untilStatus(id, 'Completed');
    const done = await other.request(`/api/reports/${id}`);
    assert.deepEqual([done.status, header(done, 'location')], [303, `/api/reports/${id}/result`]);
    assert.equal(header(done, 'cache-control'), 'private, max-age=3600');
    const result = await other.request(`/api/reports/${id}/result`);
    assert.deepEqual([result.status, header(result, 'cache-control')], [200, 'no-store']);
    assert.match(header(result, 'content-type') ?? '', /^text\/csv/);
    await web.assertRows(id, RUNS);
    assert.equal((await web.request(`/api/reports/${id}`, { method: 'DELETE' })).status, 409);
    await world.untilIdle();
    await worker.stop();
  });

  it('have the runs of their span and outcomes, in cells that a spreadsheet takes for text', async () => {
    const times: number[] = [];
    for (const [outcome, error] of [
      ['failed', 'before'],
      ['failed', '=1+1'],
      ['succeeded', 'fine'],
      ['failed', 'said "no", twice'],
      ['failed', 'after'],
    ] as const) {
      const fields = Object.entries({ job: 'spread', outcome, scheduledAt: 0, durationMs: 1, fencingToken: 7, error });
      times.push(Number.parseInt((await world.redis.client.xadd('reports:runs', '*', ...fields.flat())) ?? ''));
      await delay(2);
    }
    const worker = await world.worker();
    const iso = (n: number) => new Date(times[n] ?? 0).toISOString();
    const id = await web.submit({ job: 'spread', from: iso(1), to: iso(3), outcomes: ['failed'] });
    await web.untilStatus(id, 'Completed');
    const result = await web.request(`/api/reports/${id}/result`);
    assert.deepEqual((await result.text()).split('\n'), [
      'job,outcome,scheduledAt,durationMs,fencingToken,error',
      `spread,failed,0,1,7,'=1+1`,
      'spread,failed,0,1,7,"said ""no"", twice"',
      '',
    ]);
    await worker.stop();
  });

  it('of all users may be cached by proxies, and are cancelled by no user', async () => {
    // seeded by the leader: the newest 3 a.m.
    const at = Math.floor((Date.now() - THREE_HOURS) / DAY) * DAY + THREE_HOURS;
    const id = `report-${String(at)}`;
    const response = await web.request(`/api/reports/${id}`, { as: 'bob' });
    assert.deepEqual([response.status, header(response, 'cache-control')], [303, 'public, max-age=3600']);
    assert.equal((await web.request(`/api/reports/${id}`, { method: 'DELETE', as: 'bob' })).status, 404);
    assert.equal((await world.completions()).get(id), 1);
  });

  it('show their progress as a stream that ends with them, on any replica', async () => {
    const slow = await world.program('worker', { PAGE_TAKES_MS: 1_500 });
    const id = await web.submit();
    const seen: JobInfo[] = [];
    for await (const info of other.progress(id)) seen.push(info);
    assert.equal(seen.at(-1)?.status, 'Completed');
    assert.ok(seen.some(({ status, progress }) => status === 'Running' && progress?.message === '500 rows'));
    const percents = seen.map(({ progress }) => progress?.percent ?? 0);
    assert.ok(percents.every((percent, i) => percent >= (percents[i - 1] ?? 0)));
    await slow.replica.stop();
  });

  it('are cancelled with 202 while they run, on any worker', async () => {
    const workers = await Promise.all([1, 2].map(() => world.program('worker', { PAGE_TAKES_MS: 20_000 })));
    const ids = await Promise.all([web.submit(), web.submit()]);
    for (const id of ids) {
      await web.untilStatus(id, 'Running');
      assert.equal(header(await web.request(`/api/reports/${id}`), 'retry-after'), '1');
    }
    // no worker ends its run before the answer is sent
    for (const worker of workers) worker.replica.child.kill('SIGSTOP');
    for (const id of ids) {
      const response = await other.request(`/api/reports/${id}`, { method: 'DELETE' });
      assert.deepEqual([response.status, header(response, 'retry-after')], [202, '1']);
      assert.equal(header(response, 'location'), `/api/reports/${id}`);
    }
    for (const worker of workers) worker.replica.child.kill('SIGCONT');
    for (const id of ids) await web.untilStatus(id, 'Cancelled');
    await Promise.all(workers.map((worker) => worker.replica.stop('SIGKILL')));
  });

  it('say why they are dead, and are tried again with 202', async () => {
    const [brief, slow] = await Promise.all([
      world.web({ REPORT_TIMEOUT_MS: 100 }),
      world.program('worker', { PAGE_TAKES_MS: 20_000 }),
    ]);
    const id = await brief.submit();
    await brief.untilStatus(id, 'DeadLettered');
    assert.equal((await brief.status(id)).error, 'It took longer than 0.1 s. Choose a shorter span of time.');
    const response = await brief.request(`/api/reports/${id}/retry`, { method: 'POST' });
    assert.deepEqual([response.status, header(response, 'retry-after')], [202, '3']);
    assert.equal(header(response, 'location'), `/api/reports/${id}`);
    await brief.untilStatus(id, 'DeadLettered');
    await Promise.all([brief.replica.stop(), slow.replica.stop('SIGKILL')]);
  });

  it('answer 410 when their result has expired, and 404 after twice its life', async () => {
    const env = { RESULT_TTL_MS: 300 };
    const [brief] = await Promise.all([world.program('web', env), world.worker(env)]);
    const waiting = await brief.call<string>(
      'jobs',
      'schedule',
      'report',
      PAYLOAD,
      new Date(Date.now() + DAY).toISOString(),
    );
    await world.redis.client.zadd('reports:reports:ada', '1', waiting);
    const id = await brief.submit();
    const url = `/api/reports/${id}`;
    await brief.untilStatus(id, 'Completed');
    await until('410', async () => (await brief.request(`${url}/result`)).status === 410);
    const response = await brief.request(url);
    assert.equal(response.status, 303);
    const completedAt = Date.parse(((await response.json()) as JobInfo).completedAt ?? '');
    const untilAfterCleanUp = (what: string, check: () => Promise<boolean>) =>
      until(what, async () => {
        await brief.call('jobs', 'enqueue', 'clean-up', {});
        return check();
      });
    await untilAfterCleanUp('404', async () => (await brief.request(`${url}/result`)).status === 404);
    assert.ok(Date.now() - completedAt >= 600);
    assert.equal((await brief.request(url)).status, 404);
    // what is kept no longer leaves the list, and what waits stays
    const ids = () => world.redis.client.zrange('reports:reports:ada', '0', '-1');
    // the end of a clean-up may have removed the job, which the next one notices
    await untilAfterCleanUp('the clean-up', async () => !(await ids()).includes(id));
    assert.ok((await ids()).includes(waiting));
  });
});

const WITH_WEBHOOK = usersWith({ url: 'http://127.0.0.1:1', secret: `whsec_${'a'.repeat(32)}` });

describe('without Redis', () => {
  it('every route answers 503 with Retry-After, and nothing is kept in memory', async () => {
    await using world = await World.start({ USERS: WITH_WEBHOOK });
    const web = await world.web();
    const id = await web.submit();
    await world.redis.down();
    const routes = [
      ['POST', '/api/reports'],
      ['GET', '/api/reports'],
      ['GET', `/api/reports/${id}`],
      ['GET', `/api/reports/${id}/result`],
      ['GET', `/api/reports/${id}/progress`],
      ['DELETE', `/api/reports/${id}`],
      ['POST', `/api/reports/${id}/retry`],
    ] as const;
    for (const [method, path] of routes) {
      for (const notify of [false, true]) {
        const body = path === '/api/reports' && method === 'POST' ? { title: 'x', notify } : undefined;
        const headers = { 'idempotency-key': `key-${String(notify)}` };
        const response = await web.request(path, { method, body, headers });
        assert.deepEqual([response.status, header(response, 'retry-after')], [503, '5'], `${method} ${path}`);
      }
    }
    assert.equal((await post(web, { title: 5 })).status, 400);
    // a replica that starts meanwhile answers 503 too, and works when Redis is back
    const late = await world.web();
    assert.equal((await late.request('/api/reports')).status, 503);
    await world.redis.up();
    await until('Redis to be reached', async () => (await late.request('/api/reports')).status === 200);
    const list = (await (await late.request('/api/reports')).json()) as JobInfo[];
    assert.deepEqual(
      list.map((info) => [info.id, info.status]),
      [[id, 'Pending']],
    );
    await late.submit();
    await until('the second report, the daily report and the clean-up', async () => (await web.metric(WAITING)) === 4);
  });

  for (const [setting, value] of [
    ['maxmemory', '1'],
    ['min-replicas-to-write', '1'],
  ] as const) {
    it(`that accepts writes (${setting}), a change answers 503`, async () => {
      await using world = await World.start({ USERS: WITH_WEBHOOK });
      const web = await world.web();
      const id = await web.submit();
      await world.redis.client.config('SET', setting, value);
      const keys = [{}, { 'idempotency-key': 'key' }];
      const answers = [web.request(`/api/reports/${id}`, { method: 'DELETE' })];
      for (const notify of [false, true]) answers.push(...keys.map((key) => post(web, { title: 'x', notify }, key)));
      for (const { status } of await Promise.all(answers)) assert.equal(status, 503);
      assert.equal((await web.status(id)).status, 'Pending');
    });
  }

  it('that hangs, a request answers 503 as well, and does not wait in memory until Redis goes on', async () => {
    await using world = await World.start({ REDIS_TIMEOUT_MS: 2_000 });
    const web = await world.web();
    const id = await web.submit();
    const submit = async (key: string) => {
      const headers = { 'idempotency-key': key };
      const signal = AbortSignal.timeout(10_000);
      const response = await web.request('/api/reports', { method: 'POST', body: { title: 'x' }, headers, signal });
      return [response.status, header(response, 'retry-after')];
    };
    world.redis.hang();
    assert.deepEqual(await submit('sent'), [503, '5']);
    // the replica connects again, and Redis does not answer
    const kept = submit('kept');
    await Promise.race([kept, delay(1_000)]);
    world.redis.goOn();
    assert.deepEqual(await kept, [503, '5']);
    await until('Redis to be reached', async () => (await web.request('/api/reports')).status === 200);
    const list = (await (await web.request('/api/reports')).json()) as JobInfo[];
    assert.deepEqual(list.map(idOf), [id]);
    await until('the report, the daily report and the clean-up', async () => (await web.metric(WAITING)) === 3);
    assert.equal(await world.redis.client.exists('reports:idempotency:ada:kept'), 0);
  });
});
