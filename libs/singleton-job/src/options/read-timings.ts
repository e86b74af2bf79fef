import { DEFAULTS, LIMITS } from './defaults.js';
import { heartbeatIntervalFor } from './derived.js';
import { formatDuration } from './duration.js';
import { type OptionReader } from './option-reader.js';
import { type ResolvedOptions } from './resolved-options.js';

type Timings = Pick<
  ResolvedOptions,
  'heartbeatIntervalMs' | 'lockExpiryMs' | 'maxBackoffDelayMs' | 'shutdownTimeoutMs' | 'misfireGraceMs'
>;

/** Reads the durations of the module and compares them with each other, defaults included. */
export function readTimings(reader: OptionReader): Timings {
  const heartbeatGivenMs = reader.duration('heartbeatInterval', LIMITS.heartbeatIntervalMs);
  const lockGivenMs = readExpiry('lockExpiry', reader);
  const backoffGivenMs = reader.duration('maxBackoffDelay');
  const heartbeatIntervalMs =
    heartbeatGivenMs ?? (lockGivenMs === undefined ? DEFAULTS.heartbeatIntervalMs : heartbeatIntervalFor(lockGivenMs));
  const lockExpiryMs = lockGivenMs ?? DEFAULTS.lockExpiryMs;
  const maxBackoffDelayMs = backoffGivenMs ?? DEFAULTS.maxBackoffDelayMs;
  // a wrong duration is not compared, so that one mistake is not reported as several
  const areRead =
    !isWrong(reader, 'heartbeatInterval', heartbeatGivenMs) && !isWrong(reader, 'lockExpiry', lockGivenMs);
  if (areRead) {
    const count = LIMITS.heartbeatsPerExpiry;
    const [leastMs, because] = [count * heartbeatIntervalMs, `${count} × heartbeatInterval`];
    requireAtLeast(reader, { key: 'lockExpiry', givenMs: lockGivenMs, ms: lockExpiryMs, leastMs, because });
  }
  if (areRead && !isWrong(reader, 'maxBackoffDelay', backoffGivenMs)) {
    const [leastMs, because] = [heartbeatIntervalMs, 'heartbeatInterval'];
    requireAtLeast(reader, {
      key: 'maxBackoffDelay',
      givenMs: backoffGivenMs,
      ms: maxBackoffDelayMs,
      leastMs,
      because,
    });
  }
  return {
    heartbeatIntervalMs,
    lockExpiryMs,
    maxBackoffDelayMs,
    shutdownTimeoutMs: reader.duration('shutdownTimeout', LIMITS.shutdownTimeoutMs) ?? DEFAULTS.shutdownTimeoutMs,
    misfireGraceMs: reader.duration('misfireGrace', 0),
  };
}

/** Reads `lockExpiry` of the module or a job, or `expiry` of a lock of `LockService`. */
export function readExpiry(key: string, reader: OptionReader): number | undefined {
  return reader.duration(key, LIMITS.lockExpiryMs, LIMITS.longestLockExpiryMs);
}

interface Bound {
  readonly key: string;
  /** Undefined: `ms` is the default. */
  readonly givenMs: number | undefined;
  readonly ms: number;
  readonly leastMs: number;
  readonly because: string;
}

function requireAtLeast(reader: OptionReader, { key, givenMs, ms, leastMs, because }: Bound): void {
  if (ms >= leastMs) return;
  const got = givenMs === undefined ? `the default of ${formatDuration(ms)}` : formatDuration(ms);
  const expected = `${because} (${formatDuration(leastMs)})`;
  reader.note(key, `must be at least ${expected}, got ${got}: raise ${key} or lower heartbeatInterval`);
}

function isWrong(reader: OptionReader, key: string, parsed: number | undefined): boolean {
  return parsed === undefined && reader.get(key) !== undefined;
}
