import { LockStoreError, type LockStoreErrorCode } from '../../errors/index.js';

// The whole message is searched: an error met inside a script is wrapped in another, differently by each server.
const NEEDS_A_PERSON =
  /\b(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|CROSSSLOT)\b|invalid password|unknown (redis )?(sub)?command|the user executing the script can't|can't publish|DB index is out of range|SELECT is not allowed in cluster/i;
const REFUSES_WRITES = /\b(OOM|MISCONF|NOREPLICAS)\b/;
const NO_LONGER_PRIMARY = /\b(READONLY|MASTERDOWN)\b/;
const UNAVAILABLE = /\b(LOADING|BUSY)\b/;
const CONNECTION_LOST = /connection (is closed|close)|stream isn't writeable|max retries per request|cluster is ended/i;

/** A failure of Redis or of the connection to it, sorted by what the library does about it. */
export function redisError(error: unknown, context: string, { wasSent = true } = {}): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const message = messageOf(error);
  return new LockStoreError(codeOf(message), `${context}: ${message}`, { cause: error, wasSent });
}

export function isMisconfiguration(error: unknown): boolean {
  return codeOf(messageOf(error)) === 'STORE_MISCONFIGURED';
}

/** Whether this server is not, or no longer, the one to write to: its name has to be looked up again. */
export function isDemotion(error: unknown): boolean {
  return NO_LONGER_PRIMARY.test(messageOf(error));
}

/** Whether this server answers no request at the moment: it loads its data, or a script runs on it that does not end. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(messageOf(error));
}

/** Whether the error is about the keys of one lock, and not about the server or what this client may do. */
export function concernsOneLock(error: unknown): boolean {
  return /\b(WRONGTYPE|CROSSSLOT)\b/.test(messageOf(error));
}

/** Whether the error says only that the connection ended, not why. */
export function isConnectionLoss(error: unknown): boolean {
  return CONNECTION_LOST.test(messageOf(error));
}

export function isUnknownScript(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT');
}

function codeOf(message: string): LockStoreErrorCode {
  if (NEEDS_A_PERSON.test(message)) return 'STORE_MISCONFIGURED';
  return REFUSES_WRITES.test(message) ? 'STORE_REFUSED_WRITE' : 'STORE_UNREACHABLE';
}

/** What happened, and for an error that only says "all failed" also why the last one did. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const last: unknown = Reflect.get(error, 'lastNodeError');
  const text = error.message === '' ? String(Reflect.get(error, 'code') ?? error.name) : error.message;
  return last instanceof Error ? `${text} (${last.message})` : text;
}
