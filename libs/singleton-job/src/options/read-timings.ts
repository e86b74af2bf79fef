import { DEFAULTS, LIMITS } from './defaults.js';
import { formatDuration } from './duration.js';
import { type OptionReader } from './option-reader.js';
import { type ResolvedOptions } from './resolved-options.js';

type Timings = Pick<
  ResolvedOptions,
  'heartbeatIntervalMs' | 'lockExpiryMs' | 'maxBackoffDelayMs' | 'shutdownTimeoutMs' | 'misfireGraceMs'
>;

/** What the `lockExpiry` of a job is measured against. */
export interface JobLimits {
  readonly heartbeatIntervalMs: number;
}

/** Reads the durations of the module, which are measured against each other, and what those of jobs are measured against. */
export function readTimings(reader: OptionReader): { timings: Timings; limits: JobLimits } {
  const heartbeatGivenMs = reader.duration('heartbeatInterval', LIMITS.heartbeatIntervalMs);
  const heartbeatIntervalMs = heartbeatGivenMs ?? DEFAULTS.heartbeatIntervalMs;
  // against a heartbeat that is a mistake nothing is measured, or one mistake would read as several
  const isHeartbeatWrong = isWrong(reader, 'heartbeatInterval', heartbeatGivenMs);
  const limits: JobLimits = { heartbeatIntervalMs: isHeartbeatWrong ? 0 : heartbeatIntervalMs };
  const timings = {
    heartbeatIntervalMs,
    lockExpiryMs: readLockExpiry(reader, limits, DEFAULTS.lockExpiryMs) ?? DEFAULTS.lockExpiryMs,
    maxBackoffDelayMs: readMaxBackoffDelay(reader, limits),
    shutdownTimeoutMs: reader.duration('shutdownTimeout', LIMITS.shutdownTimeoutMs) ?? DEFAULTS.shutdownTimeoutMs,
    misfireGraceMs: reader.duration('misfireGrace', 0),
  };
  return { timings, limits };
}

/** The rules for `lockExpiry`, of the module and of a job. A default is held to them too; a job's is the module's. */
export function readLockExpiry(reader: OptionReader, limits: JobLimits, defaultMs?: number): number | undefined {
  return readExpiry('lockExpiry', reader, limits, defaultMs);
}

/** The same rules, for an option of another name. */
export function readExpiry(
  key: string,
  reader: OptionReader,
  limits: JobLimits,
  defaultMs?: number,
): number | undefined {
  const givenMs = reader.duration(key, LIMITS.lockExpiryMs);
  if (isWrong(reader, key, givenMs)) return undefined;
  return atLeast(reader, {
    key,
    givenMs,
    defaultMs,
    leastMs: LIMITS.renewalsPerExpiry * limits.heartbeatIntervalMs,
    because: `${LIMITS.renewalsPerExpiry} × heartbeatInterval`,
  });
}

function readMaxBackoffDelay(reader: OptionReader, limits: JobLimits): number {
  const defaultMs = DEFAULTS.maxBackoffDelayMs;
  const givenMs = reader.duration('maxBackoffDelay');
  if (isWrong(reader, 'maxBackoffDelay', givenMs)) return defaultMs;
  const leastMs = limits.heartbeatIntervalMs;
  const key = 'maxBackoffDelay';
  return atLeast(reader, { key, givenMs, defaultMs, leastMs, because: 'heartbeatInterval' }) ?? defaultMs;
}

interface Bound {
  readonly key: string;
  readonly givenMs: number | undefined;
  readonly defaultMs: number | undefined;
  readonly leastMs: number;
  readonly because: string;
}

function atLeast(reader: OptionReader, { key, givenMs, defaultMs, leastMs, because }: Bound): number | undefined {
  const ms = givenMs ?? defaultMs;
  if (ms === undefined || ms >= leastMs) return ms;
  const got = givenMs === undefined ? `the default of ${formatDuration(ms)}` : formatDuration(ms);
  const expected = `${because} (${formatDuration(leastMs)})`;
  reader.note(key, `must be at least ${expected}, got ${got}: raise ${key} or lower heartbeatInterval`);
  return undefined;
}

function isWrong(reader: OptionReader, key: string, parsed: number | undefined): boolean {
  return parsed === undefined && reader.get(key) !== undefined;
}
