import { describe, expect, it } from '@jest/globals';
import { Outage } from './outage.js';

describe('An outage', () => {
  it('asks about names of nobody, another one each time, where nobody asks for any of its own any more', () => {
    const outage = new Outage(0, { job: 'lock/0', deadlineMs: 1_000 });
    for (let tenant = 1; tenant <= 1_000; tenant++) {
      outage.failed(`lock/${tenant}`);
      outage.forget(`lock/${tenant - 1}`);
    }
    outage.forget('lock/1000');
    expect(outage.jobs).toEqual([]);
    expect([outage.nextName(), outage.nextName()]).toEqual(['probe/1', 'probe/2']);
    expect(outage.jobs).toEqual([]);
  });

  it('asks about another one of its own each time, as long as they are asked for', () => {
    const outage = new Outage(0, { job: 'a', deadlineMs: 1_000 });
    outage.failed('b');
    expect([outage.nextName(), outage.nextName(), outage.nextName()]).toEqual(['a', 'b', 'a']);
  });

  it('lets whoever failed last wait at the end of the line', () => {
    const outage = new Outage(0, { job: 'a', deadlineMs: 1_000 });
    outage.failed('b');
    outage.failed('a');
    expect(outage.jobs).toEqual(['b', 'a']);
  });
});
