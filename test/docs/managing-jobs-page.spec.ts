import { describe, expect, it } from '@jest/globals';
import { startDisabled } from '../support/nest-application.js';
import { readPage } from '../support/pages.js';
import { type JobStatus, SingletonJobRegistry } from 'nestjs-singleton-job';

const page = readPage('docs/managing-jobs.md');

describe('docs/managing-jobs.md', () => {
  it('has every field of a status, in order', async () => {
    await using application = await startDisabled({});
    const registry = application.app.get(SingletonJobRegistry);
    registry.register({ name: 'tick', schedule: { period: '1s' }, run: () => undefined });
    const [, sample = '{}'] = /^```json\n([^]*?)^```$/m.exec(page) ?? [];
    const { counters, ...rest } = JSON.parse(sample) as JobStatus;
    const status = registry.get('tick');
    expect(Object.keys({ ...rest, counters })).toEqual(Object.keys(status));
    expect(Object.keys(counters)).toEqual(Object.keys(status.counters));
  });

  it('has every action', () => {
    const others = ['constructor', 'list', 'get', 'overview', 'register', 'unregister'];
    const methods = Object.getOwnPropertyNames(SingletonJobRegistry.prototype);
    const [, table = ''] = /^## Actions\n[^]*?^(\|[^]*?)\n\n/m.exec(page) ?? [];
    const actions = [...table.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);
    expect(actions).toEqual(methods.filter((name) => !others.includes(name)));
  });
});
