/**
 * A length of time: whole milliseconds as a number, or a whole number with a unit as a string: `'500ms'`, `'3s'`,
 * `'5m'` (minutes), `'2h'`, `'1d'`. At least one millisecond unless an option says that zero is allowed. For a text
 * that is known only at run time, such as that of a variable or `${n}s`, see `duration()`.
 */
export type Duration =
  number | (`${bigint}${'ms' | 's' | 'm' | 'h' | 'd'}` & `${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}${string}`);

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const PATTERN = /^(?<count>\d+)(?<unit>ms|s|m|h|d)$/;

/** The milliseconds of a duration; undefined if it is none. Zero is a duration: callers that need more check it. */
export function parseDuration(value: unknown): number | undefined {
  const groups = typeof value === 'string' ? PATTERN.exec(value)?.groups : undefined;
  const ms = groups === undefined ? value : Number(groups['count']) * UNIT_MS[groups['unit'] as keyof typeof UNIT_MS];
  return typeof ms === 'number' && Number.isSafeInteger(ms) ? ms : undefined;
}

/** Milliseconds as a person writes them: `250ms`, `1.5s`, `9s`, `5m`, `2h`, `1d`. */
export function formatDuration(ms: number): string {
  if (Math.abs(ms) < UNIT_MS.s) return `${ms}ms`;
  for (const unit of ['d', 'h', 'm'] as const) {
    if (ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms / UNIT_MS.s}s`;
}

/** A length of time as log lines have it: `850 ms`, or `3.2 s` from one second on. */
export function showDuration(durationMs: number): string {
  const ms = Math.round(durationMs);
  return ms < 1_000 ? `${ms} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}
