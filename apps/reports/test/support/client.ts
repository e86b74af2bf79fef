import assert from 'node:assert/strict';
import type { JobInfo } from '../../src/durable-jobs/job-store.js';
import { until } from './processes.js';
import type { Replica } from './world.js';

const USERS = { ada: 'ada-token-0123456789', bob: 'bob-token-0123456789' };
export const TOKENS = { ...USERS, operator: 'operator-token-0123456789' };

/** Their configuration: ada has a webhook. */
export const usersWith = (webhook?: { readonly url: string; readonly secret: string }): string =>
  JSON.stringify(
    Object.entries(USERS).map(([name, token]) => ({ name, token, ...(name === 'ada' && webhook && { webhook }) })),
  );

interface RequestOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: keyof typeof TOKENS;
  readonly signal?: AbortSignal;
}

/** A client of one replica. */
export class Client {
  constructor(readonly replica: Replica) {}

  request(path: string, { method = 'GET', body, headers, as = 'ada', signal }: RequestOptions = {}): Promise<Response> {
    return fetch(this.replica.url + path, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${TOKENS[as]}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  /** Submits a report over the seeded runs. Returns its id. */
  async submit(body: object = {}, idempotencyKey?: string): Promise<string> {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const response = await this.request('/api/reports', {
      method: 'POST',
      body: { title: 'x', job: 'seeded', ...body },
      headers,
    });
    assert.equal(response.status, 202);
    return ((await response.json()) as { id: string }).id;
  }

  async status(id: string): Promise<Pick<JobInfo, 'status' | 'error' | 'attempts' | 'progress'>> {
    const response = await this.request(`/api/reports/${id}`);
    return (await response.json()) as JobInfo;
  }

  async untilStatus(id: string, status: JobInfo['status']): Promise<void> {
    await until(`${id} to be ${status}`, async () => (await this.status(id)).status === status);
  }

  /** The result of a report has the seeded runs, each once and in their order. */
  async assertRows(id: string, runs: number): Promise<void> {
    const response = await this.request(`/api/reports/${id}/result`);
    assert.equal(response.status, 200);
    const [, ...lines] = (await response.text()).trim().split('\n');
    const numbers = lines.map((line) => Number(line.split(',')[2]));
    assert.deepEqual(numbers, [...Array(runs).keys()]);
  }

  /** The events of a report's progress stream, until it ends. */
  async *progress(id: string, signal?: AbortSignal): AsyncGenerator<JobInfo> {
    const response = await this.request(`/api/reports/${id}/progress`, signal && { signal });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) yield JSON.parse(data) as JobInfo;
      }
    }
  }

  /** The sample of a metric whose labels match, if there is one. */
  async metric(pattern: RegExp): Promise<number | undefined> {
    const text = await (await this.request('/metrics')).text();
    const line = text.split('\n').find((candidate) => !candidate.startsWith('#') && pattern.test(candidate));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  }

  /** Calls a method of a provider in a program of tests. */
  async call<T>(provider: 'jobs' | 'store', method: string, ...args: readonly unknown[]): Promise<T> {
    const response = await this.request('/call', { method: 'POST', body: { provider, method, args } });
    const { result, error } = (await response.json()) as { result: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  }
}
