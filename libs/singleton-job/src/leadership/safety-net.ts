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
