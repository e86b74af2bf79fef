import { formatDuration } from '../base/text/duration.js';

const FORMS = "write it as 500, '500ms', '3s', '5m', '2h' or '1d'";

/** For the first argument of a decorator that is `process.env.X`, which is set later. */
export const BEFORE_ENV =
  'give it. A file such as .env is read after decorators run: write the usual one here, and set another by jobs of the ' +
  'module or by a variable such as SINGLETON_JOB_JOBS__NAME__CRON, __PERIOD or __DELAY';

/** How to turn a value that is none into a duration. */
export function durationFix(value: unknown): string {
  if (value === undefined) return BEFORE_ENV;
  if (typeof value === 'string') return textFix(value);
  if (typeof value === 'number' && Number.isFinite(value)) return 'round it to whole milliseconds';
  return FORMS;
}

function textFix(text: string): string {
  if (/^\d+$/.test(text)) return `add a unit, as in '${text}s' or '${text}ms'`;
  if (text.startsWith('-')) return 'it cannot be negative';
  const written = asDuration(text);
  if (written !== undefined) return `write '${written}'`;
  return text.trim().split(/\s+/).length >= 5 ? 'a cron expression belongs in @Cron' : FORMS;
}

/** A month has no length. */
const UNITS: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^(ms|msecs?|millis(econds?)?)$/, 1],
  [/^s(ecs?|econds?)?$/, 1_000],
  [/^m(ins?|inutes?)?$/, 60_000],
  [/^h(rs?|ours?)?$/, 3_600_000],
  [/^d(ays?)?$/, 86_400_000],
  [/^w(ks?|eeks?)?$/, 604_800_000],
];

/** What other libraries write, in the form of this one: `90m` for `1h30m`, `5m` for `5 minutes` and `PT5M`. */
export function asDuration(text: string): string | undefined {
  // a month, which has no length; after a T it is minutes
  if (/^P?\d+M/.test(text)) return undefined;
  let ms = 0;
  const compact = text.toLowerCase().replaceAll(/^p|t(?=\d)|\s|and/g, '');
  const rest = compact.replaceAll(/(\d+(?:\.\d+)?|)([a-z]+)/g, (_part, count: string, name: string) => {
    const [, unitMs = Number.NaN] = UNITS.find(([unit]) => unit.test(name)) ?? [];
    ms += Number(count || 1) * unitMs;
    return '';
  });
  if (rest !== '' || ms === 0 || !Number.isSafeInteger(ms)) return undefined;
  const written = formatDuration(ms);
  return written.includes('.') ? `${ms}ms` : written;
}
