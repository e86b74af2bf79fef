import { StoreError } from '../base/errors/store.error.js';
import { removeSecrets, withoutSecrets } from '../base/text/secrets.js';

/** In the order in which their fixes are compared. */
const CODES = ['STORE_MISCONFIGURED', 'STORE_REFUSED_WRITE', 'STORE_UNREACHABLE'] as const;

/**
 * What a person can do about a failure, by a pattern of what is known about it, for each code that it may get. The
 * first match counts. Any other failure may be gone in a moment. `{name}` in a fix stands for one of the names, or for
 * a group of the pattern.
 */
export type Fixes = Readonly<Record<(typeof CODES)[number], Readonly<Record<string, string>>>>;

/** A request or an attempt to connect that failed. */
export interface Failure {
  readonly store: string;
  /** Undefined: there is no connection. */
  readonly request: string | undefined;
  /** What the server or the network said. */
  readonly text: string;
  /** Whether the server said it. */
  readonly isAnswer: boolean;
  /** What else the patterns see, before the text. */
  readonly about: string;
  readonly fixes: Fixes;
  readonly names: Readonly<Record<string, string>>;
}

/** The error for a failure, on one line: what happened, and what a person can do, if anything. */
export function storeError(cause: unknown, failure: Failure): StoreError {
  if (cause instanceof StoreError) return cause;
  removeSecrets(cause);
  const { store, request, isAnswer } = failure;
  const { code, fix } = diagnose(failure);
  const to = request === undefined ? '' : ` '${request}'`;
  const silence = request === undefined ? 'is not connected' : `did not answer${to}`;
  const what = `${store} ${isAnswer ? `answered${to} with ` : `${silence}: `}${withoutSecrets(failure.text)}`;
  const message = [what, fix].filter(Boolean).join('. ');
  return new StoreError(code, message, { cause, wasSent: request !== undefined });
}

/** A person must change something before the store can work. Nothing was sent. */
export function misconfigured(message: string, cause?: unknown): StoreError {
  return new StoreError('STORE_MISCONFIGURED', message, { cause, wasSent: false });
}

function diagnose({ about, text, fixes, names }: Failure) {
  for (const code of CODES) {
    for (const [pattern, fix] of Object.entries(fixes[code])) {
      const match = new RegExp(pattern, 'i').exec(`${about} ${text}`);
      const all: Failure['names'] = { ...names, ...match?.groups };
      if (match !== null) return { code, fix: fix.replaceAll(/\{(\w+)\}/g, (_, name: string) => all[name] ?? '') };
    }
  }
  return { code: 'STORE_UNREACHABLE', fix: '' } as const;
}
