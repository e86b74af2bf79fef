import { describe, expect, it } from '@jest/globals';
import { Injectable, Scope } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { until } from '../../tools/replicas/until.js';
import { problemsOf, startDisabled, startRunning } from '../support/nest-application.js';
import { Cron, type RunInterceptor, SingletonJobRegistry } from 'nestjs-singleton-job';

/** A run, as a job finds it in its context. */
const storage = new AsyncLocalStorage<string>();

@Injectable()
class ContextInterceptor implements RunInterceptor {
  intercept: RunInterceptor['intercept'] = ({ job, cause }, next) => storage.run(`${job} ${cause}`, next);
}

const contexts = new Set<string | undefined>();
const run = (): unknown => contexts.add(storage.getStore());

@Injectable()
class Jobs {
  @Cron('0 3 1 1 *', { name: 'yearly' })
  yearly(): void {
    run();
  }
}

describe('An interceptor', () => {
  it('that is a provider wraps decorated, registered and triggered runs, and gives them a context', async () => {
    const root = { providers: [Jobs, ContextInterceptor] };
    const interceptors = [ContextInterceptor];
    await using application = await startRunning(root, { interceptors });
    const registry = application.app.get(SingletonJobRegistry);
    registry.register({ name: 'registered', schedule: { delay: '1h' }, run });
    await until('the job is led', () => registry.get('yearly').role === 'leader');
    await registry.trigger('yearly');
    await until('both have run', () => contexts.size === 2);
    expect([...contexts].sort()).toEqual(['registered schedule', 'yearly trigger']);
  });

  it('that is no singleton provider is refused at start-up, with all other mistakes', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends ContextInterceptor {}

    const interceptors = [ContextInterceptor, PerRequest];
    expect(await problemsOf(startDisabled({ providers: [PerRequest] }, { interceptors }))).toMatchSnapshot();
  });
});
