import { REDIS_FIXES } from '../../advice/store-errors.js';
import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Codes, storeError } from '../store-errors.js';

/** What is known about a failed request. */
export interface FailedRequest {
  readonly projectName: string;
  /** `tls` and `plain`: to one server, and never ready. */
  readonly kind: 'cluster' | 'server' | 'tls' | 'plain';
  /** Undefined: there is no connection. */
  readonly command?: string | undefined;
}

/**
 * This server is not the primary, or no longer, or has not loaded its data: the host name has to be looked up again.
 */
export const NOT_THE_PRIMARY = /\b(READONLY|MASTERDOWN|LOADING)\b/;
/** The keys are on another node of the cluster, or on their way to it. */
export const OF_ANOTHER_NODE = /\b(MOVED|ASK|TRYAGAIN)\b/;
export const WRONG_TYPE = /^WRONGTYPE/;
/** The error says only that the connection ended, not why. */
export const CONNECTION_LOST =
  /connection (is closed|close)|stream isn't writeable|cluster isn't ready|cluster is ended/i;

/**
 * An answer of Redis begins with a code, or with a place in a script where Redis 6.2 gives none. A network error does
 * not.
 */
const ANSWER = /^([A-Z]{2,} |@user_script: ?\d)/;
/** How servers name the place of an error inside a script: Redis 7 after the message, older servers before it. */
const PLACE =
  / ?script: [\da-f]{40}, on @user_script: ?\d+\.?|^ERR Error running script \(call to f_[\da-f]{40}\): (@user_script: ?\d+: ?)+-?/;
/** Other parts of a message that a reader cannot act on. Some of them come from ioredis. */
const NOISE =
  / HELLO must be called.*|, with args beginning with[^]*| and retry is disabled|\. Please report this|[.\s]+$/g;

/** By the kind of the connection and what was said. */
const CODES: Codes = {
  STORE_MISCONFIGURED: [
    /^(?!cluster).*\b(MOVED \d|ASK \d|TRYAGAIN)/,
    /NOAUTH|WRONGPASS|invalid password|NOPERM|can't (run|publish|access)|ACL failure|'(select|cluster.*)' command/i,
    /WRONGTYPE|CROSSSLOT|SELECT is not allowed in cluster|DB index is out of range|certificate/i,
    /unknown (redis )?(sub)?command|not allowed from script|without any input keys/i,
    /script(s|ing)? (support )?(is |are )?(disabled|not supported)/i,
  ],
  STORE_REFUSED_WRITE: [/\bOOM\b|MISCONF|NOREPLICAS|max number of clients/],
};

/** The error for a failure of Redis or of its connection. */
export function redisError(error: unknown, { projectName, kind, command }: FailedRequest): StoreError {
  return storeError(error, {
    store: 'Redis',
    request: command,
    text: saidBy(error).replace(PLACE, '').trim().replaceAll(NOISE, ''),
    isAnswer: says(error, ANSWER),
    about: kind,
    codes: CODES,
    fixes: REDIS_FIXES,
    names: { project: `{${projectName}}` },
  });
}

/** Whether the message of an error has this pattern. */
export function says(error: unknown, pattern: RegExp): boolean {
  return pattern.test(saidBy(error));
}

/** What happened, and for an error that only says "all failed" also why the last one did. */
function saidBy(error: unknown): string {
  const { lastNodeError } = Object(error) as { readonly lastNodeError?: unknown };
  return lastNodeError == null ? messageOf(error) : `${messageOf(error)} (${messageOf(lastNodeError)})`;
}
