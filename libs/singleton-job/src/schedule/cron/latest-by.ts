/** After so long the calendar repeats itself exactly: an occurrence that is not in such a time never was. */
const CALENDAR_CYCLE_MS = 146_097 * 86_400_000;

/** The first occurrence after `previous`; undefined if there is none any more. */
export type Next = (previous: number) => number | undefined;

/**
 * The last occurrence at or before an instant; undefined if there never was one. It looks backwards by looking
 * forwards: `next` never goes back, so a window that ends at `upTo` is halved until it has one occurrence.
 */
export function latestBy(next: Next): (upTo: number) => number | undefined {
  return (upTo) => {
    /** The first occurrence after `instant`, unless it is after `upTo`. */
    const firstAfter = (instant: number): number | undefined => {
      const found = next(instant);
      return found !== undefined && found <= upTo ? found : undefined;
    };
    let backMs = 1_000;
    let latest = firstAfter(upTo - backMs);
    for (; latest === undefined && backMs < CALENDAR_CYCLE_MS; backMs *= 2) latest = firstAfter(upTo - backMs * 2);
    if (latest === undefined) return undefined;
    let end = upTo;
    while (end - latest >= 1_000) {
      const middle = (latest + end) / 2;
      const later = firstAfter(middle);
      if (later === undefined) end = middle;
      else latest = later;
    }
    return latest;
  };
}
