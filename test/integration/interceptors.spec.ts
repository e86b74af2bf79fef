import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Scope } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { Cron, FixedRate, type RunInterceptor, SingletonJobRegistry } from 'nestjs-singleton-job';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import { until } from '../../tools/replicas/until.js';

/** What a job finds in its context. */
interface Context {
  readonly job: string;
  readonly cause: string;
}

const storage = new AsyncLocalStorage<Context>();

@Injectable()
class ContextInterceptor implements RunInterceptor {
  intercept: RunInterceptor['intercept'] = ({ job, cause }, next) => storage.run({ job, cause }, next);
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

describe('An interceptor', () => {
  it('that is a provider wraps decorated, registered and triggered runs, and gives them a context', async () => {
    const root = { providers: [Jobs, ContextInterceptor] };
    const interceptors = [ContextInterceptor];
    await using application = await startDisabled(root, { enabled: true, store: 'memory', interceptors });
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
