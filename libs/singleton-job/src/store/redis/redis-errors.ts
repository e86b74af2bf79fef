import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { fixFor, IS_CLUSTER, tlsFix } from './redis-fixes.js';

/** What is known about a failed request. */
export interface FailedRequest {
  readonly projectName: string;
  readonly isCluster: boolean;
  /** Undefined: there is no connection. */
  readonly command?: 'sync' | 'write' | 'publish' | 'subscribe';
  /** @default true */
  readonly wasSent?: boolean;
}

/** This server is not the primary, or no longer, or has not loaded its data: the host name has to be looked up again. */
export const NOT_THE_PRIMARY = /\b(READONLY|MASTERDOWN|LOADING)\b/;
/** The keys are on another node of the cluster, or on their way to it. */
export const OF_ANOTHER_NODE = /\b(MOVED|ASK|TRYAGAIN)\b/;
export const WRONG_TYPE = /^WRONGTYPE/;
/** The error says only that the connection ended, not why. */
export const CONNECTION_LOST =
  /connection (is closed|close)|stream isn't writeable|cluster isn't ready|max retries per request|cluster is ended/i;

// The whole message is searched: each server wraps an error inside a script in another text.
const NEEDS_A_PERSON =
  /\b(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|CROSSSLOT)\b|invalid password|unknown (redis )?(sub)?command|the user executing the script can't|DB index is out of range|SELECT is not allowed in cluster|certificate|not allowed from script|script(s|ing)? (support )?(is |are )?(disabled|not supported)|without any input keys/i;
const REFUSES_WRITES = /\b(OOM|MISCONF|NOREPLICAS)\b/;
/** An answer of Redis begins with a code, or with a place in a script where Redis 6.2 gives none. A network error does not. */
const ANSWER = /^([A-Z]{2,} |@user_script: ?\d)/;
/** How servers name the place of an error inside a script: Redis 7 after the message, older servers before it. */
const PLACE =
  / ?script: [\da-f]{40}, on @user_script: ?\d+\.?|^ERR Error running script \(call to f_[\da-f]{40}\): (@user_script: ?\d+: ?)+-?/;
/** Other parts of a message that a reader cannot act on. Some of them come from ioredis. */
const NOISE =
  / HELLO must be called.*|, with args beginning with[^]*| and retry is disabled|\. Please report this|[.\s]+$/g;

/** The error for a failure of Redis or of its connection. Its message says what a person can do, if anything. */
export function redisError(error: unknown, request: FailedRequest): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const { projectName, isCluster, command, wasSent = true } = request;
  hideArguments(error);
  const message = textOf(error).replace(PLACE, '').trim().replaceAll(NOISE, '');
  const isWrongNode = !isCluster && says(error, OF_ANOTHER_NODE);
  const code = isWrongNode ? 'STORE_MISCONFIGURED' : codeOf(error);
  const affectsAllJobs = command === undefined || code !== 'STORE_UNREACHABLE';
  const [to, silence] = command === undefined ? ['', 'is not connected'] : [` '${command}'`, 'did not answer'];
  const what = says(error, ANSWER) ? `answered${to} with ${message}` : `${silence}${to}: ${message}`;
  const fix = isWrongNode ? IS_CLUSTER : fixFor(message, projectName);
  return new LockStoreError(code, withFix(`Redis ${what}`, fix), { cause: error, wasSent, affectsAllJobs });
}

/** Why a connection never became ready, with the fix if TLS may be the cause. */
export function withTlsFix(error: unknown, usesTls: boolean): unknown {
  const fix = tlsFix(textOf(error), usesTls);
  return fix === undefined ? error : new Error(withFix(textOf(error).replace(/[.:\s]+$/, ''), fix), { cause: error });
}

/** Whether the message of an error has this pattern. */
export function says(error: unknown, pattern: RegExp): boolean {
  return pattern.test(textOf(error));
}

export function codeOf(error: unknown): LockStoreErrorCode {
  if (error instanceof LockStoreError) return error.code;
  if (says(error, NEEDS_A_PERSON)) return 'STORE_MISCONFIGURED';
  return says(error, REFUSES_WRITES) ? 'STORE_REFUSED_WRITE' : 'STORE_UNREACHABLE';
}

function withFix(message: string, fix: string | undefined): string {
  return fix === undefined ? message : `${message}. ${fix}`;
}

/** What happened, and for an error that only says "all failed" also why the last one did. */
function textOf(error: unknown): string {
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
type ErrorLike = Partial<Record<'name' | 'code' | 'cause' | 'lastNodeError' | 'command', unknown>> & {
  readonly message: string;
};

/** Also true for an error of another realm, as under jest, which is not an instance of this `Error`. */
function isErrorLike(error: unknown): error is ErrorLike {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}
