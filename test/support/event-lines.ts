import { type JobEvents } from '../../libs/singleton-job/src/base/events/events.js';
import { type TestReplica } from './test-replica.js';

type Observed = Pick<TestReplica, 'observer'>;

/** The lines about leadership. */
export function leadership({ observer }: Observed): string[] {
  return observer.eventLines.filter((line) => line.includes('leadership'));
}

/** When an event happened. */
export function timesOf({ observer }: Observed, event: keyof JobEvents): number[] {
  return observer.events.filter((recorded) => recorded.event === event).map(({ atMs }) => atMs);
}
