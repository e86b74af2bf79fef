/** An instant as ISO 8601, as statuses and log lines have it. Null for none. */
export function isoOf(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}
