import { instant, type Clock, type Instant } from '../time/index.js';

/**
 * Until when a replica may rely on what the store confirmed: the time at which the request was *sent* plus nine tenths of the life
 * that it started anew. The store may have carried the request out right then, so a slow answer can only shorten a lease.
 * (The rule of client-go's RenewDeadline and of Redlock's validity time.)
 *
 * The last tenth is the safety margin: the time in which an aborted run settles, and what the clocks of replica and store may drift
 * apart.
 */
export function deadlineOf(sent: Instant, lifeMs: number): Instant {
  const trustedMs = lifeMs - safetyMarginMs(lifeMs);
  return { now: sent.now + trustedMs, wall: sent.wall + trustedMs };
}

/** How long before the end of a life it is no longer relied on: a tenth. */
export function safetyMarginMs(lifeMs: number): number {
  return lifeMs / 10;
}

/**
 * Whether a deadline has not passed, by both clocks. They are read anew each time, because no timer can be relied on after a
 * blocked event loop. The wall clock counts too, because the monotonic clock stands still while a host is suspended.
 */
export function isBefore(clock: Clock, deadline: Instant): boolean {
  const { now, wall } = instant(clock);
  return now < deadline.now && wall < deadline.wall;
}

/** The earlier of two deadlines, on each clock. */
export function earlier(a: Instant, b: Instant): Instant {
  return { now: Math.min(a.now, b.now), wall: Math.min(a.wall, b.wall) };
}

/** The later of two deadlines of the same kind: answers may arrive in any order, and none shortens what an earlier one gave. */
export function later(a: Instant, b: Instant): Instant {
  return a.now >= b.now ? a : b;
}

/** A lock lives through the last millisecond of its time. */
export const AFTER_TTL_MS = 1;
/** Replicas that wait for the same moment do not all send a request at once. */
export const TTL_JITTER_MS = 20;

/** How long to wait until a lock can be acquired that has `ttlMs` to live and is not renewed. */
export function afterTtlMs(ttlMs: number, random: () => number): number {
  return ttlMs + AFTER_TTL_MS + random() * TTL_JITTER_MS;
}
