import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { detached } from '../base/time/detached.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/without-ticks.js';

describe('The async context', () => {
  const replicas = useReplicas();
  const storage = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const see = () => void seen.push(storage.getStore());

  it.each([
    ['a fixed rate', fixedRate(1_000)],
    ['an interval', interval(1_000)],
    ['cron', cron('* * * * * *')],
    ['@WhileLeader', whileLeader(1_000)],
  ])('of a scheduled run of %s, and of events, is not that of the start nor of the run before', async (_, schedule) => {
    seen.length = 0;
    const run = () => {
      see();
      storage.enterWith('the last run');
    };
    const start = () => replicas.start('a', [job({ schedule, run })], { observers: [{ leadershipGained: see }] });
    storage.run('boot', start);
    await replicas.clock.advance(2_500);
    expect([seen.length > 2, new Set(seen)]).toEqual([true, new Set([undefined])]);
  });

  it('of a triggered run is that of its caller, and of no run after it', async () => {
    seen.length = 0;
    const a = await replicas.leader([job({ schedule: interval(1_000), run: see })], 100);
    const triggered = storage.run('request', () => a.registry.trigger('tick'));
    await Promise.all([triggered, replicas.clock.advance(1_500)]);
    expect(seen).toEqual([undefined, 'request', undefined]);
  });

  it('of the library is no open handle of a test runner', () => {
    const made: { hasRef?(): boolean }[] = [];
    const hook = createHook({ init: (_id, _type, _trigger, resource) => void made.push(resource) }).enable();
    detached(() => undefined);
    hook.disable();
    expect(made.map((resource) => resource.hasRef?.())).toEqual([false]);
  });
});
