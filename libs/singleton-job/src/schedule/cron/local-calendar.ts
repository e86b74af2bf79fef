import { type CronFields } from './cron-fields.js';

const SECOND_MS = 1_000;
const DAY_S = 86_400;

/** The calendar repeats itself exactly after 400 years: a date that has not come by then never will. */
const CALENDAR_CYCLE_MONTHS = 400 * 12;

/**
 * The local times that match the fields of a cron expression, on a calendar without time zones. The search goes by
 * whole days and months, so a leap day years ahead is cheap to find.
 *
 * As in Vixie cron, a day that is restricted by day of month and by weekday matches if one of them does. If one of the
 * two fields begins with `*`, a day must match by both.
 */
export class LocalCalendar {
  readonly #fields: CronFields;
  readonly #minutesOfDay: readonly number[];

  constructor(fields: CronFields) {
    this.#fields = fields;
    const { hour, minute } = fields;
    this.#minutesOfDay = hour.values.flatMap((hours) => minute.values.map((minutes) => hours * 60 + minutes));
  }

  /** The first match at or after `local`; undefined if there is none in any year. */
  atOrAfter(local: number): number | undefined {
    const [day, second] = split(Math.ceil(local / SECOND_MS));
    const { values: seconds } = this.#fields.second;
    const today = this.#dayAtOrAfter(day);
    if (today === undefined) return undefined;
    if (today > day) return join(today, first(this.#minutesOfDay), first(seconds));

    const minute = Math.floor(second / 60);
    const now = atLeast(this.#minutesOfDay, minute);
    const inMinute = now === minute ? atLeast(seconds, second % 60) : undefined;
    if (inMinute !== undefined) return join(day, minute, inMinute);
    const later = now === minute ? atLeast(this.#minutesOfDay, minute + 1) : now;
    if (later !== undefined) return join(day, later, first(seconds));
    return this.atOrAfter((day + 1) * DAY_S * SECOND_MS);
  }

  #dayAtOrAfter(day: number): number | undefined {
    const [firstMonth, dayOfMonth] = monthOf(day);
    for (let month = firstMonth; month <= firstMonth + CALENDAR_CYCLE_MONTHS; month++) {
      const found = atLeast(this.#daysIn(month), month === firstMonth ? dayOfMonth : 1);
      if (found !== undefined) return firstDayOf(month) + found - 1;
    }
    return undefined;
  }

  /** The days of a month, counted from year 0, that match. */
  #daysIn(month: number): readonly number[] {
    if (!this.#fields.month.values.includes((((month % 12) + 12) % 12) + 1)) return [];
    const start = firstDayOf(month);
    const length = firstDayOf(month + 1) - start;
    // 1 January 1970 was a Thursday
    const weekday = (((start + 4) % 7) + 7) % 7;
    const days = Array.from({ length }, (_, index) => index + 1);
    return days.filter((dayOfMonth) => this.#matches(dayOfMonth, (weekday + dayOfMonth - 1) % 7, length));
  }

  #matches(dayOfMonth: number, weekday: number, monthLength: number): boolean {
    const { day, weekday: week } = this.#fields;
    const byDay = day.values.includes(dayOfMonth) || (day.last.length > 0 && dayOfMonth === monthLength);
    const inNthWeek = week.nth === 0 || Math.ceil(dayOfMonth / 7) === week.nth;
    const byWeekday =
      (week.values.includes(weekday) && inNthWeek) || (week.last.includes(weekday) && dayOfMonth + 7 > monthLength);
    return day.isStarred || week.isStarred ? byDay && byWeekday : byDay || byWeekday;
  }
}

function split(seconds: number): [day: number, secondOfDay: number] {
  const day = Math.floor(seconds / DAY_S);
  return [day, seconds - day * DAY_S];
}

function join(day: number, minuteOfDay: number, second: number): number {
  return (day * DAY_S + minuteOfDay * 60 + second) * SECOND_MS;
}

function monthOf(day: number): [month: number, dayOfMonth: number] {
  const date = new Date(day * DAY_S * SECOND_MS);
  return [date.getUTCFullYear() * 12 + date.getUTCMonth(), date.getUTCDate()];
}

function firstDayOf(month: number): number {
  return Date.UTC(Math.floor(month / 12), ((month % 12) + 12) % 12) / (DAY_S * SECOND_MS);
}

function first(sorted: readonly number[]): number {
  return sorted[0] ?? 0;
}

function atLeast(sorted: readonly number[], bound: number): number | undefined {
  return sorted.find((value) => value >= bound);
}
