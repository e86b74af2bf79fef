import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../../tools/replicas/until.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { RUNNING, startHttp, startRunning } from '../support/nest-application.js';
import { readPage } from '../support/pages.js';
import { addJob, jobField } from './recipe-samples/job-field.js';
import { JobsController } from './recipe-samples/jobs.controller.js';
import { OrderFeed, Orders } from './recipe-samples/order-feed.js';
import { withRetries } from './recipe-samples/retries.js';
import { Schedules, TableJobs } from './recipe-samples/table-jobs.js';
import { FixedRate, type JobRun, SingletonJobModule, SingletonJobRegistry, StoreError } from 'nestjs-singleton-job';
import { currentRunInterceptor } from 'nestjs-singleton-job/current-run';
import { FakeRun } from 'nestjs-singleton-job/testing';

const SAMPLES = join(import.meta.dirname, 'recipe-samples');
const sample = (name: string): string => readFileSync(join(SAMPLES, name), 'utf8');

afterEach(() => {
  jest.useRealTimers();
});

it('the page has each file that is run here', () => {
  const page = readPage('docs/recipes.md');
  expect(readdirSync(SAMPLES).filter((name) => !page.includes(sample(name)))).toEqual([]);
});

describe('fenced writes', () => {
  it('take the first row of a leader and refuse each row of an earlier one', async () => {
    await using postgres = await PostgresServer.start();
    await using pool = Object.assign(new pg.Pool({ connectionString: postgres.url }), {
      [Symbol.asyncDispose]: () => pool.end(),
    });
    await pool.query('CREATE TABLE report (id text PRIMARY KEY, body text NOT NULL, fencing_token bigint NOT NULL)');
    await pool.query('CREATE TABLE job_token (job text PRIMARY KEY, fencing_token bigint NOT NULL)');
    await pool.query('CREATE TABLE price (at timestamptz NOT NULL, amount numeric NOT NULL)');
    const [save = '', append = ''] = sample('fenced-writes.sql').split(';\n');
    const written = async (sql: string, ...values: unknown[]) => (await pool.query(sql, values)).rowCount;
    const tokens = [41, 42, 41, 42, 43];
    const [reports, prices] = [[] as unknown[], [] as unknown[]];
    for (const token of tokens) {
      reports.push(await written(save, 'daily', `by ${String(token)}`, token));
      prices.push(await written(append, 'price-tick', token, new Date(), token));
    }
    expect(reports).toEqual([1, 1, 0, 1, 1]);
    expect(prices).toEqual([1, 1, 0, 1, 1]);
    const amounts = await pool.query('SELECT amount::int FROM price ORDER BY 1');
    expect(amounts.rows).toEqual([41, 42, 42, 43].map((amount) => ({ amount })));
  });
});

describe('withRetries', () => {
  it('tries four times, and gives each attempt a signal', async () => {
    jest.useFakeTimers();
    const signals: AbortSignal[] = [];
    const failing = withRetries(new FakeRun(), (signal) => {
      signals.push(signal);
      return Promise.reject(new Error('no prices'));
    });
    const failed = expect(failing).rejects.toThrow('no prices');
    await jest.advanceTimersByTimeAsync(400 + 800 + 1_600);
    await failed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false]);
  });

  it('does not try again when the run must end', async () => {
    const run = new FakeRun();
    const attempt = jest.fn(() => {
      run.abort('SHUTDOWN');
      return Promise.reject(new Error('aborted'));
    });
    await expect(withRetries(run, attempt)).rejects.toThrow('aborted');
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('ends the wait between two attempts with the run', async () => {
    const run = new FakeRun();
    const trying = withRetries(run, () => Promise.reject(new Error('no prices')));
    setImmediate(() => {
      run.abort('TIMEOUT');
    });
    await expect(trying).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
});

describe('OrderFeed', () => {
  class Client extends EventEmitter {
    isOpen = true;

    close(): void {
      this.isOpen = false;
    }
  }

  /** A feed that runs, its client, and what it has saved. */
  function consume(run: FakeRun, save: (order: string) => Promise<void> = () => Promise.resolve()) {
    const client = new Client();
    const saved: string[] = [];
    class TestOrders extends Orders {
      override connect = () => Promise.resolve(client);
      override save = async (order: string, token: number) => {
        await save(order);
        saved.push(`${order} ${String(token)}`);
      };
    }
    return { client, saved, consuming: new OrderFeed(new TestOrders()).consume(run) };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('saves one order after the other, and the last one after the signal', async () => {
    const run = new FakeRun({ fencingToken: 7 });
    const { client, saved, consuming } = consume(run, turn as () => Promise<void>);
    await turn();
    client.emit('message', 'a');
    client.emit('message', 'b');
    await turn();
    run.abort('SHUTDOWN');
    await expect(consuming).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(saved).toEqual(['a 7', 'b 7']);
    expect(client.isOpen).toBe(false);
  });

  it('ends with the error of the client, and with that of a save', async () => {
    const broken = consume(new FakeRun());
    await turn();
    broken.client.emit('error', new Error('connection reset'));
    await expect(broken.consuming).rejects.toThrow('connection reset');
    // a client that fails again has a listener
    broken.client.emit('error', new Error('connection reset again'));
    const refused = consume(new FakeRun(), () => Promise.reject(new Error('refused')));
    await turn();
    refused.client.emit('message', 'a');
    refused.client.emit('message', 'b');
    await expect(refused.consuming).rejects.toThrow('refused');
    expect([refused.saved, refused.client.isOpen]).toEqual([[], false]);
  });

  it('begins nothing if the signal fires while it connects', async () => {
    const run = new FakeRun();
    const { client, consuming } = consume(run);
    run.abort('STEPPED_DOWN');
    await expect(consuming).rejects.toMatchObject({ code: 'STEPPED_DOWN' });
    expect(client.isOpen).toBe(false);
  });
});

describe('the job as a field', () => {
  it('is in each line of a run, and in no other line', async () => {
    const lines: object[] = [];
    @Injectable()
    class Prices {
      @FixedRate('50ms', { name: 'price-tick' })
      tick(): void {
        lines.push(addJob({ message: 'updated' }));
      }
    }
    const { app } = await startRunning({ providers: [Prices] }, { interceptors: [currentRunInterceptor] });
    await until('the job has run', () => lines.length > 0);
    await app.close();
    expect(lines[0]).toEqual({ message: 'updated', job: 'price-tick' });
    expect(jobField()).toEqual({});
  });
});

describe('the admin routes', () => {
  it('act on a job, and answer 404, 409 and 503', async () => {
    const written = new EventEmitter();
    @Injectable()
    class Reports {
      @FixedRate('1h', { name: 'daily-report' })
      write(): Promise<unknown> {
        return once(written, 'end');
      }
    }
    const imports = [SingletonJobModule.forRoot(RUNNING)];
    const { app, url } = await startHttp({ imports, providers: [Reports], controllers: [JobsController] });
    const jobs = app.get(SingletonJobRegistry);
    const post = async (path: string) => (await fetch(`${url}/admin/jobs/${path}`, { method: 'POST' })).status;
    await until('the job has a leader', () => jobs.get('daily-report').role === 'leader');
    expect(await (await fetch(`${url}/admin/jobs`)).json()).toMatchObject([{ name: 'daily-report' }]);
    expect(await post('daily-report/trigger')).toBe(201);
    expect(await post('daily-report/trigger')).toBe(409);
    expect(await post('daily-report/step-down')).toBe(201);
    expect([await post('no-report/pause'), await post('daily-report/delete')]).toEqual([404, 404]);
    jest.spyOn(jobs, 'pause').mockRejectedValue(new StoreError('STORE_UNREACHABLE', 'no answer'));
    expect(await post('daily-report/pause')).toBe(503);
    written.emit('end');
    await app.close();
  });
});

describe('TableJobs', () => {
  it('follows the table: new, changed and removed rows, also past a wrong one', async () => {
    jest.useFakeTimers({ now: Date.UTC(2027, 0, 1) });
    const rows: { name: string; cron: string; timeZone: string }[] = [];
    const runs: string[] = [];
    class TestSchedules extends Schedules {
      override all = () => Promise.resolve([...rows]);
      override run = (name: string, { scheduledAt }: JobRun) => {
        runs.push(`${name} ${scheduledAt.toISOString().slice(11, 16)}`);
        return Promise.resolve();
      };
    }
    const { app } = await startRunning({ providers: [TableJobs, { provide: Schedules, useClass: TestSchedules }] });
    const pass = (minutes: number) => jest.advanceTimersByTimeAsync(minutes * 60_000);
    rows.push({ name: 'acme', cron: '*/10 * * * *', timeZone: 'UTC' });
    await pass(11);
    rows.splice(
      0,
      1,
      { name: 'wrong', cron: 'every day', timeZone: 'UTC' },
      { name: 'acme', cron: '*/15 * * * *', timeZone: 'UTC' },
    );
    await pass(20);
    rows.splice(0, 2, { name: 'globex', cron: '*/30 * * * *', timeZone: 'UTC' });
    await pass(30);
    expect(runs).toEqual(['acme 00:10', 'acme 00:15', 'acme 00:30', 'globex 01:00']);
    await app.close();
  });
});
