import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Injectable, Scope } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import {
  Cron,
  FixedRate,
  type InterceptedRun,
  type RunInterceptor,
  SingletonJobModule,
  type SingletonJobOptions,
  SingletonJobRegistry,
} from 'nestjs-singleton-job';
import { problemsOf, startApplication, startDisabled } from '../support/nest-application.js';
import { useRedis } from '../support/use-redis.js';
import { until } from '../../tools/replicas/until.js';

/** What a job finds in its context. */
interface Context {
  readonly job: string;
  readonly cause: string;
}

const storage = new AsyncLocalStorage<Context>();

@Injectable()
class ContextInterceptor implements RunInterceptor {
  readonly seen: InterceptedRun[] = [];

  intercept(run: InterceptedRun, next: () => Promise<unknown>): Promise<unknown> {
    this.seen.push(run);
    return storage.run({ job: run.job, cause: run.cause }, next);
  }
}

@Injectable()
class Jobs {
  readonly contexts: (Context | undefined)[] = [];

  @FixedRate('50ms', { name: 'price-tick' })
  async tick(): Promise<void> {
    await Promise.resolve();
    this.contexts.push(storage.getStore());
  }

  @Cron('0 3 1 1 *', { name: 'yearly' })
  yearly(): void {
    this.contexts.push(storage.getStore());
  }
}

const redis = useRedis();

const options = (interceptors: SingletonJobOptions['interceptors']): SingletonJobOptions => ({
  // apart from the jobs of other tests
  projectName: `intercepted-${randomUUID()}`,
  connection: redis().url,
  interceptors: interceptors ?? [],
});

describe('An interceptor', () => {
  it('that is a provider wraps decorated, registered and triggered runs, and gives them a context', async () => {
    const module = SingletonJobModule.forRoot(options([ContextInterceptor]));
    await using application = await startApplication({ imports: [module], providers: [Jobs, ContextInterceptor] });
    const { app } = application;
    const registry = app.get(SingletonJobRegistry);
    const { contexts } = app.get(Jobs);
    registry.register({
      name: 'registered',
      schedule: { delay: '1h' },
      run: () => {
        contexts.push(storage.getStore());
      },
    });
    await until('the job is led', () => registry.get('yearly').role === 'leader');
    expect(await registry.trigger('yearly')).toMatchObject({ started: true });
    await until('all have run', () => new Set(contexts.map((context) => context?.job)).size === 3);
    expect(contexts).toContainEqual({ job: 'price-tick', cause: 'schedule' });
    expect(contexts).toContainEqual({ job: 'registered', cause: 'schedule' });
    expect(contexts).toContainEqual({ job: 'yearly', cause: 'trigger' });
    const [first] = app.get(ContextInterceptor).seen;
    expect(first?.signal).toBeInstanceOf(AbortSignal);
    expect(first?.fencingToken).toBeGreaterThan(0);
  });

  it('that is no singleton provider is refused at start-up, with all other mistakes', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends ContextInterceptor {}

    const problems = await problemsOf(
      startDisabled({ providers: [PerRequest] }, { interceptors: [ContextInterceptor, PerRequest] }),
    );
    expect(problems).toEqual([
      expect.stringContaining(
        'interceptors must be instances or singleton providers, got the class ContextInterceptor: add ContextInterceptor to',
      ),
      expect.stringContaining('got the class PerRequest'),
    ]);
  });

  it('must have a method `intercept`, or be a class', async () => {
    const interceptors = [{ itercept: () => 1 }, 'ContextInterceptor', null] as unknown as [];
    expect(await problemsOf(startDisabled({}, { interceptors }))).toEqual(
      [0, 1, 2].map(
        (index) =>
          expect.stringContaining(
            `interceptors.${String(index)} must be an interceptor or the class of one`,
          ) as unknown,
      ),
    );
    expect(await problemsOf(startDisabled({}, { interceptors: ContextInterceptor as unknown as [] }))).toEqual([
      expect.stringContaining('interceptors must be a list, got the class ContextInterceptor: put it in brackets'),
    ]);
  });
});
