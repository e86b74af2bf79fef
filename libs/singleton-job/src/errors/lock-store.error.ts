import { messageOf } from './message-of.js';
import { SingletonJobError } from './singleton-job.error.js';

/**
 * What kind of failure a store met, which decides how the library goes on:
 *
 * - `STORE_UNREACHABLE`: nothing works for now (connection, time-out, a server that is loading, busy or demoted).
 *   The process asks again at short intervals, with one command at a time.
 * - `STORE_REFUSED_WRITE`: the server answers but takes no new keys (out of memory, too few replicas). Leaders go on.
 * - `STORE_MISCONFIGURED`: it will not work until a person changes something (permissions, a key of another type).
 *   Said loudly and asked again with back-off only.
 */
export type LockStoreErrorCode = 'STORE_UNREACHABLE' | 'STORE_REFUSED_WRITE' | 'STORE_MISCONFIGURED';

/** A store did not answer. It says nothing about who holds a lock: the command may or may not have been carried out. */
export class LockStoreError extends SingletonJobError {
  /** False if the command never left this process, and so was certainly not carried out. */
  readonly wasSent: boolean;

  constructor(
    readonly code: LockStoreErrorCode,
    message: string,
    options: ErrorOptions & { readonly wasSent?: boolean } = {},
  ) {
    super(message, options);
    this.wasSent = options.wasSent ?? true;
  }
}

/** Any rejection of a store as a {@link LockStoreError}; what a store of somebody else throws counts as unreachable. */
export function asLockStoreError(error: unknown): LockStoreError {
  if (error instanceof LockStoreError) return error;
  return new LockStoreError('STORE_UNREACHABLE', messageOf(error), { cause: error });
}
