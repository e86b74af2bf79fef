import { type OptionReader } from './option-reader.js';
import { readExpiry } from './read-timings.js';
import { readTimeZone } from './read-time-zone.js';

/** The options that a decorator or an override sets. Undefined: it does not set the option. */
export type ResolvedJobOptions = ReturnType<typeof resolveJobOptions>;

/** Reads the options that decorators and overrides have in common. `job-option-table.ts` lists which kinds of job have them. */
export function resolveJobOptions(reader: OptionReader) {
  return Object.freeze({
    enabled: readEnabled(reader),
    lockExpiryMs: readExpiry('lockExpiry', reader),
    timeoutMs: reader.duration('timeout'),
    warnAfterMs: reader.durationOrFalse('warnAfter'),
    initialDelayMs: reader.duration('initialDelay', 0),
    overlap: reader.checked('overlap', isOverlap, {
      expected: "'skip' or 'cancel-other'",
      fix: "use 'skip' to drop a tick that is due during a run, 'cancel-other' to abort that run",
    }),
    offsetMs: reader.duration('offset', 0),
    timeZone: readTimeZone(reader),
    misfireGraceMs: reader.duration('misfireGrace', 0),
  });
}

function readEnabled(reader: OptionReader): boolean | undefined {
  const enabled = reader.boolean('enabled');
  const disabled = reader.boolean('disabled');
  if (disabled === undefined) return enabled;
  if (enabled === disabled) {
    reader.note('enabled', `and disabled contradict each other, both are ${enabled}: keep one of them`);
    return undefined;
  }
  return !disabled;
}

function isOverlap(value: unknown): value is 'skip' | 'cancel-other' {
  return value === 'skip' || value === 'cancel-other';
}
