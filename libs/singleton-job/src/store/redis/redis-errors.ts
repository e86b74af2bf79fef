import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { type FailedRequest, fixFor } from './redis-fixes.js';

// The whole message is searched: each server wraps an error inside a script in another text.
const NEEDS_A_PERSON =
  /\b(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|CROSSSLOT)\b|invalid password|unknown (redis )?(sub)?command|the user executing the script can't|can't publish|DB index is out of range|SELECT is not allowed in cluster|certificate|not allowed from script|script(s|ing)? (support )?(is |are )?(disabled|not supported)|without any input keys/i;
const ANOTHER_NODE = /\b(MOVED|ASK|CROSSSLOT)\b/;
const REFUSES_WRITES = /\b(OOM|MISCONF|NOREPLICAS)\b/;
const NO_LONGER_PRIMARY = /\b(READONLY|MASTERDOWN)\b/;
const UNAVAILABLE = /\b(LOADING|BUSY)\b/;
const CONNECTION_LOST = /connection (is closed|close)|stream isn't writeable|max retries per request|cluster is ended/i;
/** The error is about the key or the channel of the request. */
const ABOUT_KEY = /\b(WRONGTYPE|CROSSSLOT)\b|access (one of the|a) (key|channel)|publish to the channel/;
/** An answer of Redis begins with a code, or with a place in a script where Redis 6.2 gives none. A network error does not. */
const ANSWER = /^([A-Z]{2,} |@user_script: ?\d)/;
/** The error for a failure of Redis or of its connection. Its message says what a person can do, if anything. */
export function redisError(error: unknown, request: FailedRequest): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const { isCluster, wasSent = true } = request;
  hideArguments(error);
  const message = failureText(error).replace(PLACE, '').trim().replaceAll(NOISE, '');
  const isWrongNode = !isCluster && ANOTHER_NODE.test(message);
  const code = isWrongNode ? 'STORE_MISCONFIGURED' : codeOf(message);
  // each node of a cluster has its own rights and its own memory
  const isAboutAll = code !== 'STORE_UNREACHABLE' && !isCluster && !concernsOneLock(error, isCluster);
  const affectsAllJobs = request.command === undefined || isAboutAll;
  const fix = fixFor(message, request);
  const text = `${happened(message, ANSWER.test(failureText(error)), request)}${fix === undefined ? '' : `. ${fix}`}`;
  return new LockStoreError(code, text, { cause: error, wasSent, affectsAllJobs });
}

export function isMisconfiguration(error: unknown): boolean {
  if (error instanceof LockStoreError) return error.code === 'STORE_MISCONFIGURED';
  return codeOf(failureText(error)) === 'STORE_MISCONFIGURED';
}

export function isWrongPassword(error: unknown): boolean {
  return /\b(NOAUTH|WRONGPASS)\b|invalid password/.test(failureText(error));
}

/** Whether this server is not the primary, or no longer: its host name has to be looked up again. */
export function isDemotion(error: unknown): boolean {
  return NO_LONGER_PRIMARY.test(failureText(error));
}

/** Whether this server answers no request at the moment: it loads its data, or an endless script runs on it. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(failureText(error));
}

/** Whether the error is about the keys of one lock, and not about the server or the rights of this client. */
function concernsOneLock(error: unknown, isCluster: boolean): boolean {
  return (isCluster ? /\b(WRONGTYPE|CROSSSLOT)\b/ : /\bWRONGTYPE\b/).test(failureText(error));
}

/** Whether the error says only that the connection ended, not why. */
export function isConnectionLoss(error: unknown): boolean {
  return CONNECTION_LOST.test(failureText(error));
}

export function isUnknownScript(error: unknown): boolean {
  return failureText(error).startsWith('NOSCRIPT');
}

function codeOf(message: string): LockStoreErrorCode {
  if (NEEDS_A_PERSON.test(message)) return 'STORE_MISCONFIGURED';
  return REFUSES_WRITES.test(message) ? 'STORE_REFUSED_WRITE' : 'STORE_UNREACHABLE';
}

function happened(message: string, isAnswer: boolean, { command, key }: FailedRequest): string {
  if (command === undefined) return isAnswer ? `Redis answered with ${message}` : `Redis is not connected: ${message}`;
  const what = `'${command}'${ABOUT_KEY.test(message) && key !== undefined ? ` for '${key}'` : ''}`;
  return isAnswer ? `Redis answered ${what} with ${message}` : `Redis did not answer ${what}: ${message}`;
}

/** How servers name the place of an error inside a script: Redis 7 after the message, older servers before it. */
const PLACE =
  / ?script: [\da-f]{40}, on @user_script: ?\d+\.?|^ERR Error running script \(call to f_[\da-f]{40}\): (@user_script: ?\d+: ?)+-?/;
/** Other parts of a message that a reader cannot act on. Some of them come from ioredis. */
const NOISE = / HELLO must be called.*| and retry is disabled|\. Please report this|[.\s]+$/g;

/** What happened, and for an error that only says "all failed" also why the last one did. */
export function failureText(error: unknown): string {
  if (!isErrorLike(error)) return String(error);
  const { message, code, name, lastNodeError } = error;
  const text = message === '' ? String(code ?? name) : message;
  return isErrorLike(lastNodeError) ? `${text} (${lastNodeError.message})` : text;
}

/** ioredis attaches the failed command with its arguments, for example a password. */
function hideArguments(error: unknown): void {
  if (!isErrorLike(error)) return;
  delete error.command;
  hideArguments(error.cause);
  hideArguments(error.lastNodeError);
}

/** An error with the fields that ioredis and Node add. */
interface ErrorLike {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly lastNodeError?: unknown;
  command?: unknown;
}

/** Also true for an error of another realm, as under jest, which is not an instance of this `Error`. */
function isErrorLike(error: unknown): error is ErrorLike {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}
