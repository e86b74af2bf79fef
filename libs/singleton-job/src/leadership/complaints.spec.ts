import { describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../errors/index.js';
import { ManualClock, RecordingObserver } from '../testing/index.js';
import { Complaints } from './complaints.js';

const ERROR = new LockStoreError('STORE_MISCONFIGURED', 'NOPERM');

function setup() {
  const observer = new RecordingObserver(new ManualClock());
  const settled: string[] = [];
  const complaints = new Complaints(observer.notify, () => settled.push('settled'));
  const told = () => observer.of('storeMisconfigured').map(({ job }) => job);
  const refuse = (job: string) => {
    complaints.raise({ job, what: 'bid' }, ERROR);
  };
  return { complaints, told, refuse, settled };
}

describe('What the store refuses to a name', () => {
  it('is told once, whatever else is refused to it and however often it is left and asked for again', () => {
    const { complaints, told, refuse } = setup();
    for (let request = 0; request < 3; request++) {
      refuse('a');
      complaints.raise({ job: 'a', what: 'release' }, ERROR);
      complaints.leave('a');
      expect(complaints.size).toBe(0);
    }
    expect(told()).toEqual(['a']);
  });

  it('is settled, and told again, once the store has done it for that name, and for no other', () => {
    const { complaints, told, refuse, settled } = setup();
    refuse('a');
    complaints.leave('a');
    complaints.settle({ job: 'b', what: 'bid' });
    refuse('a');
    expect([told(), settled]).toEqual([['a'], []]);
    complaints.leave('a');
    complaints.settle({ job: 'a', what: 'bid' });
    refuse('a');
    expect([told(), settled]).toEqual([['a', 'a'], ['settled']]);
  });

  it('is remembered of the latest thousand names that nobody asks for any more, and of all that somebody asks for', () => {
    const { complaints, told, refuse } = setup();
    const names = Array.from({ length: 2_000 }, (_, tenant) => `lock/import/${tenant}`);
    for (const name of names) refuse(name);
    for (const name of names) refuse(name);
    expect(told()).toHaveLength(2_000);
    for (const name of names) complaints.leave(name);
    refuse('lock/import/1999');
    expect(told()).toHaveLength(2_000);
    refuse('lock/import/0');
    expect(told()).toHaveLength(2_001);
  });
});
