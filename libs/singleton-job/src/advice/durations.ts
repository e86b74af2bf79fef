import { formatDuration, parseDuration } from '../base/text/duration.js';

/** How to turn a value that is none into a duration. */
export function durationFix(value: unknown): string {
  if (value === undefined) return 'give it';
  if (value === '') return 'give it a value, or leave the option out';
  if (typeof value === 'string' && /^\d+$/.test(value)) return `add a unit, as in '${value}s' or '${value}ms'`;
  if (typeof value === 'string' && value.startsWith('-')) return 'it cannot be negative';
  if (typeof value === 'string' && value.trim().split(/\s+/).length >= 5) return 'a cron expression belongs in @Cron';
  if (typeof value === 'number' && Number.isNaN(value)) return 'look where it is computed; Number(undefined) is NaN';
  if (typeof value === 'number' && Number.isFinite(value)) return 'round it to whole milliseconds';
  return "write it as 500, '500ms', '3s', '5m', '2h' or '1d'";
}

/** Of what other libraries write, such as `5 minutes` or `1h30m`. Undefined: that is not known. */
export function asDuration(text: string): string | undefined {
  const compact = text.replaceAll(' ', '').toLowerCase();
  const parts = [...compact.matchAll(/(\d*)(ms|[smhd])(?:ec|ond|in|ute|ou|r|ay|s)*/g)];
  if (parts.map(([part]) => part).join('') !== compact) return undefined;
  return formatDuration(parts.reduce((ms, [, count, unit]) => ms + (parseDuration(`${count || '1'}${unit}`) ?? 0), 0));
}
