const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/**
 * Longer than the largest offset from UTC plus the largest shift. Shorter than half the time between two shifts of a
 * zone.
 */
export const REACH_MS = 2 * DAY_MS;

/**
 * The zone is sampled at multiples of this. Two shifts are never this close (Gaza will have two within a week in 2040).
 */
const CELL_MS = 2 * DAY_MS;

const MAX_CACHED_CELLS = 512;

/** The instant at which the clocks of a zone are set, and their offsets from UTC before it and from then on. */
interface ClockShift {
  /** Infinity: they are not set in this cell. */
  readonly at: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/**
 * How far the wall clocks of a time zone are ahead of UTC, and when they are set. The results depend only on the zone
 * and the instant: the sampling grid is always the same, so earlier calls do not matter.
 *
 * *Local* milliseconds, here and in the files beside it, are the time that the wall clock shows, read as if it were
 * UTC.
 */
export class TimeZone {
  static readonly #zones = new Map<string, TimeZone>();

  readonly #cells = new Map<number, ClockShift>();

  private constructor(
    readonly name: string,
    private readonly format: Intl.DateTimeFormat,
  ) {}

  /** `name` must pass `isTimeZone`. */
  static of(name: string): TimeZone {
    const cached = TimeZone.#zones.get(name);
    if (cached !== undefined) return cached;
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    const resolved = format.resolvedOptions().timeZone;
    // only the case is corrected: versions of Node.js differ in what an old name is an alias of
    const canonical = resolved.toLowerCase() === name.toLowerCase() ? resolved : name;
    const zone = new TimeZone(canonical, format);
    TimeZone.#zones.set(name, zone);
    return zone;
  }

  offsetAt(instant: number): number {
    const { at, beforeMs, afterMs } = this.#cell(Math.floor(instant / CELL_MS));
    return instant < at ? beforeMs : afterMs;
  }

  /** The shift in (`after`, `upTo`]. The window is a few days at most, and never has more than one shift. */
  shiftIn(after: number, upTo: number): ClockShift | undefined {
    for (let index = Math.floor(after / CELL_MS); index <= Math.floor(upTo / CELL_MS); index++) {
      const shift = this.#cell(index);
      if (shift.at > after && shift.at <= upTo) return shift;
    }
    return undefined;
  }

  #cell(index: number): ClockShift {
    const cached = this.#cells.get(index);
    if (cached !== undefined) return cached;
    if (this.#cells.size >= MAX_CACHED_CELLS) this.#cells.clear();
    const cell = this.#sample(index * CELL_MS, (index + 1) * CELL_MS);
    this.#cells.set(index, cell);
    return cell;
  }

  #sample(start: number, end: number): ClockShift {
    const beforeMs = this.#read(start);
    const afterMs = this.#read(end);
    if (beforeMs === afterMs) return { at: Infinity, beforeMs, afterMs };
    let low = start;
    let high = end;
    while (high - low > SECOND_MS) {
      const middle = low + Math.floor((high - low) / 2 / SECOND_MS) * SECOND_MS;
      if (this.#read(middle) === beforeMs) low = middle;
      else high = middle;
    }
    return { at: high, beforeMs, afterMs };
  }

  #read(instant: number): number {
    // GMT, GMT+05:30, or long ago GMT-00:01:15
    const [, sign = '+', offset = '0'] = /GMT(?:([+-])(.+))?$/.exec(this.format.format(instant)) ?? [];
    const [hours = 0, minutes = 0, seconds = 0] = offset.split(':').map(Number);
    return Number(`${sign}1`) * (hours * 3_600 + minutes * 60 + seconds) * SECOND_MS;
  }
}
