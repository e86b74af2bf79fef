import { removeSecrets, withoutSecrets } from '../text/secrets.js';
import { messageOf } from './message-of.js';
import { SingletonJobError } from './singleton-job.error.js';

/**
 * A request to the store failed. It is not known who holds a lock: the request may or may not have been carried out.
 */
export class StoreError extends SingletonJobError {
  /** False if the request never left this process, and so was certainly not carried out. */
  readonly wasSent: boolean;

  constructor(
    /**
     * What kind of failure it is, which decides how the library goes on. It is stable, unlike the message.
     *
     * - `STORE_UNREACHABLE`: it may work in a moment. There is no connection, or the server is loading, busy or
     *   demoted.
     * - `STORE_REFUSED_WRITE`: the server takes no new keys (out of memory, too few replicas). Leaders go on. It is
     *   reported as `requestDenied`.
     * - `STORE_MISCONFIGURED`: a person must change something (permissions, a key of another type). It is reported as
     *   `requestDenied`.
     *
     * Requests are sent again on the next connection. After an error on the same one, a heartbeat is sent again after
     * 250 ms at most, also while the server denies it, and a write after a growing pause of 3 s at most.
     */
    readonly code: 'STORE_UNREACHABLE' | 'STORE_REFUSED_WRITE' | 'STORE_MISCONFIGURED',
    message: string,
    options: ErrorOptions & { readonly wasSent?: boolean } = {},
  ) {
    super(message, options);
    this.wasSent = options.wasSent ?? true;
  }
}

/** The function `connection` of the application has failed, so a lost connection cannot be opened again. */
export class ConnectionFunctionError extends Error {}

/** Any rejection of a store as a {@link StoreError}; another error of a store counts as unreachable. */
export function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  removeSecrets(error);
  return new StoreError('STORE_UNREACHABLE', withoutSecrets(messageOf(error)), { cause: error });
}

/** The error about a record that no replica can read. */
export function unreadable(record: string, store: string): StoreError {
  const message = `the record '${record}' in ${store} cannot be read, because another program wrote it: delete it`;
  return new StoreError('STORE_MISCONFIGURED', message);
}
