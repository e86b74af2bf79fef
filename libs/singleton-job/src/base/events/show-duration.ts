/** A length of time as log lines have it: `850 ms`, or `3.2 s` from one second on. */
export function showDuration(durationMs: number): string {
  const ms = Math.round(durationMs);
  return ms < 1_000 ? `${ms} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}
