import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { asStoreError } from '../../libs/singleton-job/src/base/errors/store.error.js';
import { Connection } from '../../libs/singleton-job/src/store/connection.js';
import { type MysqlSession } from '../../libs/singleton-job/src/store/mysql/mysql-session.js';
import { MysqlStore } from '../../libs/singleton-job/src/store/mysql/mysql-store.js';
import { until } from '../../tools/replicas/until.js';
import { deferred } from '../support/deferred.js';
import { type StartedApplication, startRunning } from '../support/nest-application.js';
import { Interval, type JobRun, type RunInterceptor, SingletonJobRegistry } from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = trace.getTracer('the application');

/** What the one job of the application does. */
type Work = (run: JobRun) => unknown;

/** An application whose job does this once, at once, in the traces of the SDK that is registered for the process. */
function startWith(work: Work, interceptors: RunInterceptor[] = []): Promise<StartedApplication> {
  @Injectable()
  class Report {
    @Interval('1h', { name: 'report' })
    write(run: JobRun): unknown {
      return work(run);
    }
  }
  return startRunning({ imports: [SingletonJobOpenTelemetryModule], providers: [Report] }, { interceptors });
}

/** The span of the run, once it has ended. */
async function spanOfTheRun(cause = 'schedule'): Promise<ReadableSpan> {
  const find = (): ReadableSpan | undefined =>
    exporter.getFinishedSpans().find(({ attributes }) => attributes['job.cause'] === cause);
  await until('the run has a span', () => find() !== undefined);
  return find() as ReadableSpan;
}

describe('the trace of a run', () => {
  beforeAll(() => {
    provider.register();
  });

  beforeEach(() => {
    exporter.reset();
  });

  afterAll(async () => {
    await provider.shutdown();
  });

  it('begins with its own span, and has the spans of the job below it', async () => {
    const ran = deferred<JobRun>();
    await using started = await tracer.startActiveSpan('the start of the application', async (span) => {
      const app = await startWith(async (run) => {
        ran.resolve(run);
        await new Promise(setImmediate);
        tracer.startSpan('a query').end();
      });
      span.end();
      return app;
    });
    expect(started.jobs()).toHaveLength(1);
    const { kind, cause, scheduledAt, fencingToken } = await ran.promise;
    const span = await spanOfTheRun();
    expect(span.name).toBe('run report');
    // a timer that the start of the application has set is no part of it
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.attributes).toEqual({
      'job.name': 'report',
      'job.kind': kind,
      'job.cause': cause,
      'job.scheduled_at': scheduledAt.toISOString(),
      'job.fencing_token': fencingToken,
      'job.outcome': 'succeeded',
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    const query = exporter.getFinishedSpans().find(({ name }) => name === 'a query');
    expect(query?.parentSpanContext?.spanId).toBe(span.spanContext().spanId);
  });

  it('has the spans of the other interceptors below it: it is the outermost one', async () => {
    const intercept: RunInterceptor['intercept'] = (_run, next) =>
      tracer.startActiveSpan('a transaction', async (span) => {
        await next();
        span.end();
      });
    await using started = await startWith(() => undefined, [{ intercept }]);
    expect(started.jobs()).toHaveLength(1);
    const run = await spanOfTheRun();
    const transaction = exporter.getFinishedSpans().find(({ name }) => name === 'a transaction');
    expect(transaction?.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
  });

  it('continues the trace of the caller that triggered the run', async () => {
    await using started = await startWith(() => undefined);
    await spanOfTheRun();
    const registry = started.app.get(SingletonJobRegistry);
    await tracer.startActiveSpan('a request', async (span) => {
      expect(await registry.trigger('report')).toMatchObject({ started: true });
      const triggered = await spanOfTheRun('trigger');
      expect(triggered.parentSpanContext?.spanId).toBe(span.spanContext().spanId);
      span.end();
    });
  });

  it('has no spans of what the library itself sends', async () => {
    const statement = (): Promise<void> => {
      tracer.startSpan('SELECT 1').end();
      return Promise.resolve();
    };
    const connection = new Connection({
      newSession: () => Promise.resolve({ connect: statement, end: () => undefined }),
      toError: asStoreError,
      delayMs: () => 0,
      onReady: () => undefined,
      onLost: () => undefined,
    });
    connection.open();
    await connection.send('sync', statement);
    await connection.close();
    expect(exporter.getFinishedSpans()).toEqual([]);
    await statement();
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });

  it('has no span of a hint that is read, once a second', async () => {
    const store = new MysqlStore({ projectName: 'shop', connection: 'mysql://localhost/shop' });
    const statement = jest.fn(() => {
      tracer.startSpan('SELECT 1').end();
      return Promise.resolve([]);
    });
    const session = { statement } as unknown as MysqlSession;
    jest.spyOn(store['requests'], 'session', 'get').mockReturnValue(session);
    await store['readHint']();
    expect(statement).toHaveBeenCalledTimes(1);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
