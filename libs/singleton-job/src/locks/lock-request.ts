import { LOCK_WORDS } from '../advice/option-words.js';
import { asTextFix } from '../advice/values.js';
import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { isObject } from '../base/text/describe-value.js';
import { type Duration } from '../base/text/duration.js';
import { lockRecord } from '../leadership/record.js';
import { type OptionRow, Place, readCallOptions, withDefaults } from '../options/table/option-table.js';
import { abortSignal, duration } from '../options/table/option-types.js';

/**
 * The key of a lock: a name, or a name and a tenant. Each tenant has its own keys: two tenants can lock the same name
 * at the same time. With `encodeURIComponent` it has 500 characters at most.
 */
export type LockKey = string | { readonly name: string; readonly tenant: string };

/**
 * Options of one lock.
 *
 * @example `locks.tryAcquire('nightly-import', { wait: '5s' })`
 */
export interface LockOptions {
  /**
   * How long to wait for a lock that another holder has. It does not poll: it goes by the hint of the release and by
   * the lease of the holder. After the store was restarted or lost its data, a lock may still be valid for an earlier
   * holder. So no lock is granted for one `lockExpiry` then, except one that was taken after the restart.
   *
   * @default 0
   */
  readonly wait?: Duration | undefined;

  /**
   * Aborts the wait. The call rejects with the reason of the signal, and a lock that was already granted is released.
   */
  readonly signal?: AbortSignal | undefined;
}

/** In a record name, so that each store has room for it. */
const MAX_KEY_LENGTH = 500;
const KEY_FIX = "use a text such as 'nightly-import', or { name: 'nightly-import', tenant: 'acme' }";

/** Every option of a lock. */
const LOCK_OPTIONS = {
  wait: { type: duration({ minMs: 0 }), default: 0 },
  signal: { type: abortSignal },
} as const satisfies Record<keyof LockOptions, OptionRow>;

export type LockRequest = ReturnType<typeof readLockRequest>;

/**
 * A key and its options, checked. `record`: the name of its record.
 *
 * @throws InvalidLockError with every mistake
 */
export function readLockRequest(key: unknown, options: unknown = {}) {
  const problems: string[] = [];
  const record = readKey(key, new Place('key', problems));
  const fix = "write them before the function, as in withLock(key, { wait: '5s' }, fn)";
  const read = readCallOptions(LOCK_OPTIONS, options, problems, { fix, words: LOCK_WORDS });
  const { waitMs, signal } = withDefaults(LOCK_OPTIONS, read);
  if (record === undefined || problems.length > 0) throw new InvalidLockError(problems);
  return { record, waitMs, signal };
}

function readKey(key: unknown, place: Place): string | undefined {
  const parts = isObject(key)
    ? ['name', 'tenant'].map((part) => readPart(key[part], place.in(part)))
    : [readPart(key, place)];
  if (parts.includes(undefined)) return undefined;
  const text = parts.join('/');
  if (text.length <= MAX_KEY_LENGTH) return lockRecord(text);
  return place.refuse(key, `of ${MAX_KEY_LENGTH} characters at most in a URL`, 'lock a hash of it');
}

/** A part of the key as a URL has it. Half of a surrogate pair cannot be encoded. */
function readPart(part: unknown, place: Place): string | undefined {
  if (typeof part === 'string' && part !== '' && !/\p{Surrogate}/u.test(part)) return encodeURIComponent(part);
  return place.refuse(part, 'a text, not empty, in whole characters', asTextFix(part) ?? KEY_FIX);
}
