import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { describeValue, isRecord } from '../options/describe-value.js';
import { type Duration } from '../options/duration.js';
import { OptionReader, type OptionRow, withDefaults } from '../options/option-reader.js';
import { duration, expiry, matching } from '../options/readers.js';
import { type ResolvedOptions } from '../options/resolve-options.js';

/** The key of a lock. Each tenant has its own keys: two tenants can lock the same name at the same time. */
export type LockKey =
  | string
  | {
      /** The name of the lock. */
      readonly name: string;
      /** The tenant. */
      readonly tenant: string;
    };

/**
 * Options of one lock.
 *
 * @example `locks.tryAcquire('nightly-import', { expiry: '30s', wait: '5s' })`
 */
export interface LockOptions {
  /**
   * How long the lock lives without renewal. More: the lock of a killed process is free later. Less: a shorter pause of the process or of
   * the store loses the lock. From 500 ms to 1 day.
   *
   * @default the `lockExpiry` of the module
   */
  readonly expiry?: Duration | undefined;

  /**
   * How long to wait for a lock that another holder has. It does not poll: it goes by the message of the release and by the life of the
   * lock. After the store lost its data, the lock may still be valid for an earlier holder. So the lock is granted only after the longest expiry
   * that this process has used or seen for it.
   *
   * @default 0
   */
  readonly wait?: Duration | undefined;

  /** Aborts the wait. The call rejects with the reason of the signal, and a lock that was already granted is released. */
  readonly signal?: AbortSignal | undefined;
}

/** A key and its options, checked. */
export interface LockRequest {
  /** The key in the store without the project: `lock/nightly-import`. */
  readonly name: string;
  readonly expiryMs: number;
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
}

const KEY_FIX = "use a text such as 'nightly-import', or { name: 'nightly-import', tenant: 'acme' }";

const isSignal = (value: unknown): value is AbortSignal => value instanceof AbortSignal;

/** Every option of a lock. The default of `expiry` is that of the module. */
const LOCK_OPTIONS = {
  expiry: { variable: 'duration', read: expiry },
  wait: { variable: 'duration', read: duration({ leastMs: 0 }), default: 0 },
  signal: { read: matching(isSignal, 'an AbortSignal', 'pass controller.signal') },
} as const satisfies Record<keyof LockOptions, OptionRow>;

const FIXES = { lockExpiry: 'here it is called expiry', ttl: 'it is called expiry' };

/** @throws InvalidLockError with every mistake */
export function readLockRequest(key: unknown, given: unknown, options: ResolvedOptions): LockRequest {
  const problems: string[] = [];
  const name = readKey(key, problems);
  if (given !== undefined && !isRecord(given)) {
    problems.push(
      `options must be an object, got ${describeValue(given)}: write them as { expiry: '30s', wait: '5s' }`,
    );
  }
  const reader = new OptionReader({ raw: isRecord(given) ? given : {} }, problems);
  const { expiryMs, waitMs, signal } = withDefaults(LOCK_OPTIONS, reader.read(LOCK_OPTIONS, FIXES));
  if (problems.length > 0) throw new InvalidLockError(problems);
  return { name, expiryMs: expiryMs ?? options.lockExpiryMs, waitMs, signal };
}

function readKey(key: unknown, problems: string[]): string {
  if (isKeyPart(key)) return `lock/${encodeURIComponent(key)}`;
  if (isRecord(key) && isKeyPart(key['name']) && isKeyPart(key['tenant'])) {
    return `lock/${encodeURIComponent(key['name'])}/${encodeURIComponent(key['tenant'])}`;
  }
  problems.push(
    `key must be a text, or a name and a tenant, none of them empty, got ${describeValue(key)}: ${KEY_FIX}`,
  );
  return '';
}

function isKeyPart(value: unknown): value is string {
  // half of a surrogate pair cannot be encoded
  return typeof value === 'string' && value !== '' && !/\p{Surrogate}/u.test(value);
}
