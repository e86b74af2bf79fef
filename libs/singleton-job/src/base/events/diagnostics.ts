import { channel } from 'node:diagnostics_channel';
import { JOB_EVENTS } from './events.js';
import { type JobObserver, ownCopy } from './observer.js';

/**
 * Publishes every event on the `node:diagnostics_channel` named `nestjs-singleton-job:<event>`. A callback exists only while
 * its channel has subscribers. Without subscribers nothing is copied and nothing is called. Channels belong to the process:
 * two applications in one process publish on the same channels.
 *
 * The library cannot catch an error of a subscriber. Node raises it as an uncaught exception of the process; other subscribers are still
 * called.
 */
export const diagnostics: JobObserver = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.keys(JOB_EVENTS).map((event) => [event, { enumerable: true, get: publisherWhileSubscribed(event) }]),
  ),
);

function publisherWhileSubscribed(event: string): () => ((payload: object) => void) | undefined {
  const events = channel(`nestjs-singleton-job:${event}`);
  const publish = (payload: object): void => {
    events.publish(ownCopy(payload));
  };
  return () => (events.hasSubscribers ? publish : undefined);
}
