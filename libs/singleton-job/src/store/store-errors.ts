import { storeFix, type StoreFixes } from '../advice/store-errors.js';
import { StoreError } from '../base/errors/store.error.js';
import { removeSecrets, withoutSecrets } from '../base/text/secrets.js';

/** What is known about a failure gives its code. Any other failure may be gone in a moment. */
export type Codes = Readonly<Record<'STORE_MISCONFIGURED' | 'STORE_REFUSED_WRITE', readonly RegExp[]>>;

/** A request or an attempt to connect that failed. */
interface Failure {
  readonly store: string;
  /** Undefined: there is no connection. */
  readonly request: string | undefined;
  /** What the server or the network said. */
  readonly text: string;
  /** Whether the server said it. */
  readonly isAnswer: boolean;
  /** What else the patterns see, before the text. */
  readonly about: string;
  readonly codes: Codes;
  readonly fixes: StoreFixes;
  readonly names: Readonly<Record<string, string>>;
}

/** The error for a failure, on one line: what happened, and what a person can do, if anything. */
export function storeError(cause: unknown, failure: Failure): StoreError {
  if (cause instanceof StoreError) return cause;
  removeSecrets(cause);
  const { store, request, isAnswer } = failure;
  const known = `${failure.about} ${failure.text}`;
  const fix = storeFix(failure.fixes, known, failure.names);
  const to = request === undefined ? '' : ` '${request}'`;
  const silence = request === undefined ? 'is not connected' : `did not answer${to}`;
  const what = `${store} ${isAnswer ? `answered${to} with ` : `${silence}: `}${withoutSecrets(failure.text)}`;
  const message = [what, fix].filter(Boolean).join('. ');
  return new StoreError(codeOf(failure.codes, known), message, { cause, wasSent: request !== undefined });
}

/** A person must change something before the store can work. Nothing was sent. */
export function misconfigured(message: string, cause?: unknown): StoreError {
  return new StoreError('STORE_MISCONFIGURED', message, { cause, wasSent: false });
}

function codeOf(codes: Codes, known: string): StoreError['code'] {
  for (const code of ['STORE_MISCONFIGURED', 'STORE_REFUSED_WRITE'] as const)
    if (codes[code].some((pattern) => pattern.test(known))) return code;
  return 'STORE_UNREACHABLE';
}
