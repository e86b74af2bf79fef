import { describe, expect, it } from '@jest/globals';
import { Outage } from './outage.js';

describe('An outage', () => {
  it('keeps one name of all those that nobody asks for any more', () => {
    const outage = new Outage(0, { job: 'lock/0', deadlineMs: 1_000 });
    for (let tenant = 1; tenant <= 1_000; tenant++) {
      outage.failed(`lock/${tenant}`);
      outage.forget(`lock/${tenant - 1}`);
    }
    outage.forget('lock/1000');
    expect(outage.jobs).toEqual(['lock/1000']);
  });

  it('lets whoever failed last wait at the end of the line', () => {
    const outage = new Outage(0, { job: 'a', deadlineMs: 1_000 });
    outage.failed('b');
    outage.failed('a');
    expect(outage.jobs).toEqual(['b', 'a']);
  });
});
