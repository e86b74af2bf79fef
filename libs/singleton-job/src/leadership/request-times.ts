/** The followers of a job together send one request in this time. */
const REQUEST_EVERY_MS = 60_000;
/** With many followers each of them still sends a request in this time on average. */
const LONGEST_MEAN_MS = 600_000;
/** All followers of all jobs together send no more than one request in this time. */
const FLEET_REQUEST_EVERY_MS = 600;

/**
 * How long a follower waits until it sends a request for which there was no reason, because messages may get lost. At most 15 min, unless
 * all followers of all jobs would send too many requests then. Every replica counts as a follower of as many jobs as this one.
 */
export function safetyNetMs(
  { followers, jobs }: { readonly followers: number; readonly jobs: number },
  random: () => number,
): number {
  const others = Math.max(followers, 1);
  const affordableMs = Math.max(LONGEST_MEAN_MS, others * jobs * FLEET_REQUEST_EVERY_MS);
  return (0.5 + random()) * Math.min(others * REQUEST_EVERY_MS, affordableMs);
}

/** The longest wait for each other replica, of a replica that leads half of its share. */
const SPREAD_MS = 5;
/** Extra wait for each other replica, of a replica that leads more jobs than its share. */
const ABOVE_SHARE_MS = 1.5;
/** The load of a replica counts up to this: a multiple of its fair share. */
const MOST_LOAD = 2;

interface Spread {
  /** Replicas that may want the lock too. */
  readonly others: number;
  readonly living: number;
  /** Jobs that this replica competes for or leads, and those that it leads. */
  readonly competing: number;
  readonly leading: number;
}

/**
 * A random wait after a release or a death. It is longer for a replica that leads more jobs than its share, so that jobs spread over the
 * replicas, and longer with more replicas, so that not all of them send a request.
 */
export function spreadMs({ others, living, competing, leading }: Spread, random: () => number): number {
  const fairShare = Math.max(competing, 1) / Math.max(living, 1);
  // limited: one replica may be left with the sessions of dead ones, and lead all jobs
  const load = Math.min(leading / fairShare, MOST_LOAD);
  const extraMs = load > 1 ? ABOVE_SHARE_MS : 0;
  return others * (random() * SPREAD_MS * (0.5 + load) + extraMs);
}
