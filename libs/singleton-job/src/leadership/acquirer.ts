import { type LockStoreError } from '../base/errors/lock-store.error.js';
import { lockTtlRestored } from '../base/events/warnings.js';
import { type AcquireRequest, type Grant, type Holder, type Refusal } from '../store/lock-store.js';
import { Semaphore } from '../base/time/semaphore.js';
import { type LockMessages } from './lock-messages.js';
import { type ReplicaContext } from './replica.js';

const MOST_OPEN_REQUESTS = 25;

interface Attempt<Sent> {
  readonly name: string;
  readonly holder: Holder;
  /** How long the store keeps the lock. An unused grant is released in the background for so long. */
  readonly lifeMs: number;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Called each time that the request is about to be sent, also on a new connection. Undefined: it is not sent any more. */
  readonly prepare: () => { readonly request: AcquireRequest; readonly sent: Sent } | undefined;
  /** Whether a grant that has just arrived may be used. */
  readonly isInTime: (sent: Sent) => boolean;
  readonly onFailure?: ((error: LockStoreError) => void) | undefined;
}

/** `too-late`: the lock was granted and is released again. `unanswered`: if it was granted all the same, it is released. */
type Acquired<Sent> =
  | { readonly outcome: 'granted'; readonly grant: Grant; readonly sent: Sent }
  | { readonly outcome: 'too-late'; readonly grant: Grant }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unanswered' };

/** Sends the acquire requests of this replica. */
export class Acquirer {
  /** Limits the unanswered requests, so that heartbeats never wait behind many of them. Grants of other replicas cancel queued requests. */
  readonly #open = new Semaphore(MOST_OPEN_REQUESTS);
  #attempts = 0;

  constructor(
    private readonly context: ReplicaContext,
    private readonly messages: LockMessages,
  ) {}

  /** A new holder for a request. Each has its own number, so that a late request of an earlier attempt changes nothing. */
  nextHolder(owner = this.context.id): Holder {
    this.#attempts += 1;
    return `${owner}#${this.#attempts}`;
  }

  /** Sends one request until it is answered or its signal aborts. No lock that it may have taken is left behind. Never rejects. */
  async acquireOnce<Sent>(attempt: Attempt<Sent>): Promise<Acquired<Sent>> {
    const { name, holder, lifeMs, signal, prepare, isInTime, onFailure } = attempt;
    const { client } = this.context;
    let sent: { readonly facts: Sent } | undefined;
    const send = () =>
      this.#open.run(async () => {
        const prepared = signal.aborted ? undefined : prepare();
        if (prepared === undefined) return undefined;
        sent = { facts: prepared.sent };
        return client.store.acquire(prepared.request);
      }, signal);
    const result = await client.untilAnswered({ name, kind: 'acquire', signal, send, onFailure });
    if (result?.granted === false) {
      if (result.ttlRestored && result.holder !== undefined)
        this.context.notify('warning', lockTtlRestored(name, result.holder));
      return { outcome: 'refused', refusal: result };
    }
    if (result !== undefined && sent !== undefined && isInTime(sent.facts))
      return { outcome: 'granted', grant: result, sent: sent.facts };
    if (sent !== undefined)
      this.messages.releaseInBackground({ name, holder, token: result?.token ?? 0, update: {} }, lifeMs);
    return result === undefined ? { outcome: 'unanswered' } : { outcome: 'too-late', grant: result };
  }
}
