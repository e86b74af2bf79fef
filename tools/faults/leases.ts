import { confirmsLock, type Message } from './message.js';
import { LOCK_EXPIRY_MS, SAFETY_MARGIN_MS } from './settings.js';

/**
 * What a replica may know of its leases, seen from its wire: when the requests left to which Redis said yes. From that
 * follows the last moment at which a run may start, without a word of the replica itself.
 */
export class Leases {
  readonly #confirmed = new Map<string, number[]>();

  /** A message that passes between `replica` and Redis. */
  hear(replica: string, message: Message): void {
    const { job, holder, askedMs } = message;
    if (!confirmsLock(message) || job === undefined || askedMs === undefined) return;
    // a slot may have had another process, whose request was answered late
    if (holder?.startsWith(`${replica}-`) !== true) return;
    const key = `${replica} ${job}`;
    const confirmed = this.#confirmed.get(key);
    if (confirmed === undefined) this.#confirmed.set(key, [askedMs]);
    else confirmed.push(askedMs);
  }

  /** Whether a run of `replica` that started at `monoMs` started within its lease. */
  covers(replica: string, job: string, monoMs: number): boolean {
    const asked = this.#confirmed.get(`${replica} ${job}`) ?? [];
    return asked.some((askedMs) => askedMs <= monoMs && monoMs <= askedMs + LOCK_EXPIRY_MS - SAFETY_MARGIN_MS);
  }
}
