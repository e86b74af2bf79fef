import { channel } from 'node:diagnostics_channel';
import { type JobEvents } from './events.js';
import { type JobObserver } from './observer.js';

/** Every event, told on `nestjs-singleton-job:<event>`. A record, so that the compiler misses none. */
const EVENTS: { readonly [E in keyof JobEvents]: true } = {
  leadershipGained: true,
  leadershipLost: true,
  leadershipReleased: true,
  leaseRenewed: true,
  runStarted: true,
  runSucceeded: true,
  runFailed: true,
  runCancelled: true,
  runSlow: true,
  tickDropped: true,
  occurrencesMissed: true,
  eventLoopBlocked: true,
  storeUnreachable: true,
  storeRecovered: true,
  requestDenied: true,
  clockAhead: true,
  evictionPossible: true,
  restartsHidden: true,
  lockTtlRestored: true,
  runnerFailed: true,
  observerFailed: true,
};

/**
 * Publishes every event on a `node:diagnostics_channel`. A callback is there only while its channel has subscribers: for
 * nobody, nothing is copied and nothing is called. Channels belong to the process: what two applications in one process
 * tell arrives on the same.
 *
 * A subscriber that throws is not ours to catch: Node keeps its error from the publisher and the other subscribers, and
 * raises it as an uncaught exception of the process.
 */
export const diagnostics: JobObserver = Object.defineProperties(
  {},
  Object.fromEntries(Object.keys(EVENTS).map((event) => [event, { enumerable: true, get: whileHeard(event) }])),
);

function whileHeard(event: string): () => ((payload: object) => void) | undefined {
  const told = channel(`nestjs-singleton-job:${event}`);
  const publish = (payload: object): void => {
    told.publish(payload);
  };
  return () => (told.hasSubscribers ? publish : undefined);
}
