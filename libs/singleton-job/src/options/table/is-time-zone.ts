import { succeeds } from '../succeeds.js';

/**
 * Whether this Node knows it as the name of a time zone. False for offsets such as '+08:00', which have no summer time.
 */
export function isTimeZone(value: unknown): value is string {
  // only some versions of Node.js accept an offset, and replicas must not differ
  if (typeof value !== 'string' || /^[+-]/.test(value)) return false;
  return succeeds(() => new Intl.DateTimeFormat('en', { timeZone: value }));
}
