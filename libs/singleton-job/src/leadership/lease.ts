import { type Clock, instant, type Instant } from '../base/time/clock.js';

/**
 * Until when a replica may rely on an answer of the store: the time at which the request was *sent* plus nine tenths of the new life.
 * The store may have carried out the request right then, so a slow answer can only shorten a lease. (RenewDeadline of client-go and the
 * validity time of Redlock follow the same rule.)
 *
 * The last tenth is the safety margin. An aborted run ends in it, and it covers the drift between the clocks of replica and store.
 */
export function deadlineOf(sent: Instant, lifeMs: number): Instant {
  const validMs = lifeMs - safetyMarginMs(lifeMs);
  return { now: sent.now + validMs, wall: sent.wall + validMs };
}

/** The part of a life that is not relied on: the last tenth. */
export function safetyMarginMs(lifeMs: number): number {
  return lifeMs / 10;
}

/**
 * Whether a deadline has not passed on either clock. The clocks are read each time: after a blocked event loop, timers are late. The wall
 * clock counts too, because the monotonic clock stops while a host is suspended.
 */
export function isBefore(clock: Clock, deadline: Instant): boolean {
  const { now, wall } = instant(clock);
  return now < deadline.now && wall < deadline.wall;
}

/** The earlier of two deadlines, on each clock. */
export function earlier(a: Instant, b: Instant): Instant {
  return { now: Math.min(a.now, b.now), wall: Math.min(a.wall, b.wall) };
}

/** The later of two deadlines of the same kind. Answers may arrive in any order, and none of them shortens a lease. */
export function later(a: Instant, b: Instant): Instant {
  return a.now >= b.now ? a : b;
}

/** A lock still exists in the last millisecond of its life. */
export const AFTER_TTL_MS = 1;
/** Spreads the requests of replicas that wait for the same moment. */
export const TTL_JITTER_MS = 20;

/** How long to wait until a lock with `ttlMs` to live can be acquired, if it is not renewed. */
export function afterTtlMs(ttlMs: number, random: () => number): number {
  return ttlMs + AFTER_TTL_MS + random() * TTL_JITTER_MS;
}
