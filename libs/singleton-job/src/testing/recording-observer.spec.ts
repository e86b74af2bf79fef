import { describe, expect, it } from '@jest/globals';
import { notifyAll } from '../base/events/observer.js';
import { ManualClock } from './manual-clock.js';
import { RecordingObserver } from './recording-observer.js';

describe('a recording observer', () => {
  it('keeps each event and its time', async () => {
    const clock = new ManualClock();
    const recorder = new RecordingObserver(clock);
    const notify = notifyAll([recorder]);
    notify('leadershipGained', { job: 'price-tick', fencingToken: 7, because: 'first' });
    await clock.advance(500);
    notify('leadershipLost', { job: 'price-tick', fencingToken: 7, reason: 'expired' });
    expect(recorder.eventLines).toEqual(['0 leadershipGained', '500 leadershipLost expired']);
    notify('leadershipLost', { job: 'another', fencingToken: 7, reason: 'expired' });
    expect(recorder.eventLines.at(-1)).toBe('500 leadershipLost another expired');
    expect(recorder.of('leadershipGained')).toEqual([{ job: 'price-tick', fencingToken: 7, because: 'first' }]);
  });
});
