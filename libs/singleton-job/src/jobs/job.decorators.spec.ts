import { describe, expect, it } from '@jest/globals';
import { Cron, FixedRate, Interval, type JobMetadata, JOBS, WhileLeader } from './job.decorators.js';

function recordedBy(prototype: object): Record<string, readonly JobMetadata[]> {
  return Object.fromEntries([...JOBS.of(prototype)].map(([name, jobs]) => [String(name), jobs]));
}

describe('a decorator', () => {
  class Prices {
    @FixedRate('500ms', { name: 'tick' })
    tick(): void {}

    @Interval('1s')
    beat(): void {}

    @Interval('named', 1_000)
    named(): void {}

    @Cron('0 3 * * *')
    report(): void {}

    @WhileLeader('feed', { restartDelay: '5s' })
    feed(): void {}

    @WhileLeader()
    nameless(): void {}
  }

  it('records its arguments without checking them', () => {
    expect(recordedBy(Prices.prototype)).toEqual({
      tick: [{ kind: 'fixed-rate', decorator: '@FixedRate', schedule: '500ms', options: { name: 'tick' } }],
      beat: [{ kind: 'interval', decorator: '@Interval', schedule: '1s', options: undefined }],
      named: [{ kind: 'interval', decorator: '@Interval', schedule: 1_000, options: { name: 'named' } }],
      report: [{ kind: 'cron', decorator: '@Cron', schedule: '0 3 * * *', options: undefined }],
      feed: [{ kind: 'while-leader', decorator: '@WhileLeader', options: { restartDelay: '5s', name: 'feed' } }],
      nameless: [{ kind: 'while-leader', decorator: '@WhileLeader' }],
    });
  });

  it.each(['method', 'class', 'field'])('says which option of the compiler is missing for a %s', (kind) => {
    const standard = FixedRate('1s') as unknown as (value: unknown, context: object) => void;
    const value = kind === 'field' ? undefined : () => undefined;
    expect(() => {
      standard(value, { kind, name: 'tick', static: false });
    }).toThrow(/set experimentalDecorators: true in the compilerOptions/);
  });

  it('does not change the method', () => {
    const { tick, ...others } = Object.getOwnPropertyDescriptors(Prices.prototype);
    expect(Reflect.getMetadataKeys(tick.value as object)).toEqual([]);
    expect(Object.keys(others)).toEqual(['constructor', 'beat', 'named', 'report', 'feed', 'nameless']);
  });

  it('of a subclass does not reach the base class', () => {
    class Slow extends Prices {
      @FixedRate('1m')
      override tick(): void {}
    }

    expect(recordedBy(Slow.prototype)['tick']).toMatchObject([{ schedule: '1m' }]);
    expect(recordedBy(Slow.prototype)['beat']).toHaveLength(1);
    expect(recordedBy(Prices.prototype)['tick']).toMatchObject([{ schedule: '500ms' }]);
  });

  it('is found by a second copy of the package', () => {
    const key = Symbol.for('nestjs-singleton-job:jobs');

    const jobs = Reflect.getOwnMetadata(key, Prices.prototype) as ReadonlyMap<string, readonly unknown[]>;
    expect(jobs.get('tick')).toHaveLength(1);
  });
});
