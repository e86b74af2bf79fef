/** Whether this Node knows it as the name of a time zone. Offsets such as '+08:00' are none: they know no summer time. */
export function isTimeZone(value: unknown): value is string {
  // some versions of Node.js take an offset and some do not: replicas must not differ
  if (typeof value !== 'string' || /^[+-]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
