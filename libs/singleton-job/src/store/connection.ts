import { messageOf } from '../base/errors/message-of.js';
import { StoreError } from '../base/errors/store.error.js';
import { untraced } from '../base/time/untraced.js';
import { type Address } from './first-answer.js';
import { NoAnswerError } from './silence-watchdog.js';

/** One connection to a server, until it ends. */
export interface Session {
  /** Undefined: it is not known, or there are several. */
  readonly address?: Address | undefined;
  /** Resolves when requests can be sent. Rejects if the server is of no use. */
  connect(): Promise<unknown>;
  /** Ends it soon, whatever the server does. What is under way rejects. */
  end(): unknown;
}

/** Called when a session ends, with the reason. */
export type OnLost = (reason: unknown) => void;

/** What a session needs of its store. */
export interface SessionParts {
  readonly lost: OnLost;
  /** How long nothing may arrive while a request waits for its answer. */
  readonly answerTimeoutMs: () => number;
}

/** What happened since a request was answered. */
export interface Failures {
  /** Sessions that ended, and attempts that failed, before the last one. */
  readonly before: number;
  /** How many of them in a row, up to the last one, got no answer. */
  readonly timeouts: number;
}

/** What a connection needs of its store. */
export interface ConnectionParts<S extends Session> {
  /** A session that is not connected yet. Called for each attempt. */
  readonly newSession: (lost: OnLost) => Promise<S>;
  /** `request` is what was sent. Left out: there is no connection. */
  readonly toError: (error: unknown, request?: string) => StoreError;
  /** How long to wait for the next attempt. */
  readonly delayMs: (failures: Failures) => number;
  /** Finds out more about why an attempt failed, before the first one that succeeds. Undefined: nothing. */
  readonly explain?: (reason: unknown, address: Address) => Promise<unknown>;
  readonly onReady: () => void;
  /** A session ended, or an attempt failed. */
  readonly onLost: (error: StoreError) => void;
}

const MAX_QUICK_TIMEOUTS = 2;
const TIMEOUT_DELAY_MS = 5_000;

/**
 * How long to wait for the next attempt. Each time-out may have left a statement on a server that does not notice that
 * its client is gone: it waits there, or keeps rows locked. So the third one in a row makes the next attempt late.
 */
export function delayAfter({ before, timeouts }: Failures, answerTimeoutMs: number): number {
  if (timeouts > MAX_QUICK_TIMEOUTS) return TIMEOUT_DELAY_MS;
  return Math.min(50 * 2 ** before, answerTimeoutMs / 3) * (0.5 + Math.random() / 2);
}

const NOT_OPEN = new StoreError('STORE_UNREACHABLE', 'the store is not open', { wasSent: false });

/** Keeps a session from `open()` to `close()`: it replaces each one that ends. */
export class Connection<S extends Session> {
  #state: 'new' | 'connecting' | 'ready' | 'closed' = 'new';
  #session: S | undefined;
  /** Why requests cannot be sent. */
  #reason: unknown = NOT_OPEN;
  #failures: Failures = { before: 0, timeouts: 0 };
  /** What the client said of the last failure. */
  #said = '';
  /** Why that was, in place of what the client said. */
  #found: unknown;
  #wasReady = false;
  #retry: NodeJS.Timeout | undefined;
  #endFirstAttempt: () => void = () => undefined;
  readonly #firstAttempt = new Promise<void>((resolve) => (this.#endFirstAttempt = resolve));

  constructor(private readonly parts: ConnectionParts<S>) {}

  /** Undefined: requests cannot be sent. */
  get session(): S | undefined {
    return this.#state === 'ready' ? this.#session : undefined;
  }

  open(): void {
    if (this.#state === 'new') void this.#connect();
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#state = 'closed';
    this.#session = undefined;
    this.#reason = NOT_OPEN;
    this.#endFirstAttempt();
    clearTimeout(this.#retry);
    await session?.end();
  }

  /** Right after `open()` a request waits for the end of the first attempt. Later it needs a connection. */
  async send<T>(request: string, task: (session: S) => Promise<T>): Promise<T> {
    if (this.#state !== 'new') await this.#firstAttempt;
    const { session } = this;
    if (session === undefined) throw this.parts.toError(this.#reason);
    try {
      const answer = await untraced(() => task(session));
      this.#failures = { before: 0, timeouts: 0 };
      return answer;
    } catch (error: unknown) {
      // the request knows only that the connection ended; the connection knows why
      const knowsMore = session !== this.#session && this.#reason !== NOT_OPEN;
      throw this.parts.toError(knowsMore ? this.#reason : error, request);
    }
  }

  async #connect(): Promise<void> {
    this.#state = 'connecting';
    let session: S | undefined;
    const lost: OnLost = (reason) => {
      this.#lose(session, reason);
    };
    try {
      const made = await untraced(() => this.parts.newSession(lost));
      session = made;
      // it may be connecting already
      if (this.#isClosed()) return void made.end();
      this.#session = made;
      await untraced(() => made.connect());
    } catch (error: unknown) {
      lost(error);
    }
    // it was closed or lost meanwhile
    if (session === undefined || session !== this.#session) return;
    this.#state = 'ready';
    this.#wasReady = true;
    this.#found = undefined;
    this.#endFirstAttempt();
    this.parts.onReady();
  }

  #lose(session: S | undefined, reason: unknown): void {
    if (session !== this.#session || this.#isClosed()) return;
    this.#session = undefined;
    this.#state = 'connecting';
    this.#reason = reason;
    void session?.end();
    const { before, timeouts } = this.#failures;
    const failures = { before, timeouts: reason instanceof NoAnswerError ? timeouts + 1 : 0 };
    this.#failures = { ...failures, before: before + 1 };
    const said = messageOf(reason);
    const isKnown = said === this.#said;
    this.#said = said;
    if (!isKnown) this.#found = undefined;
    const { explain } = this.parts;
    const address = session?.address;
    if (isKnown || explain === undefined || address === undefined || this.#wasReady) this.#retryLater(reason, failures);
    else
      void untraced(() => explain(reason, address))
        .catch(() => undefined)
        .then((found) => {
          this.#found = found;
          this.#retryLater(reason, failures);
        });
  }

  #retryLater(reason: unknown, failures: Failures): void {
    if (this.#isClosed()) return;
    this.#reason = this.#found ?? reason;
    this.#endFirstAttempt();
    this.#retry = setTimeout(() => void this.#connect(), this.parts.delayMs(failures));
    this.parts.onLost(this.parts.toError(this.#reason));
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }
}
