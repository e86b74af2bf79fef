import { type JobEvents } from 'nestjs-singleton-job';

/** A record, so that the compiler misses none. */
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

/** Whether the library has an event of this name. */
export function isEvent(name: string): name is keyof JobEvents {
  return Object.hasOwn(EVENTS, name);
}
