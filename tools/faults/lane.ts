import { type Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from './monotonic.js';
import { type Message } from './message.js';

/**
 * What becomes of a message: it passes; it is lost; or it is held back until the lane is let go. A stream has no gaps:
 * what comes after a message that was lost is lost, and what comes after one that was held waits behind it.
 */
export type Verdict = 'pass' | 'lose' | 'hold';

export interface LaneParts {
  readonly to: Writable;
  readonly judge: (message: Message) => Verdict;
  /** It goes out this very moment. */
  readonly passes: (message: Message) => void;
  /** How long a message is under way. */
  readonly delayMs: () => number;
}

/** One direction of one connection. */
export class Lane {
  /** Settles once everything that was let through has been written. */
  drained = Promise.resolve();
  readonly #parts: LaneParts;
  readonly #held: Message[] = [];
  #state: Verdict = 'pass';
  #underWay = 0;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  get isHeld(): boolean {
    return this.#state === 'hold';
  }

  get isBroken(): boolean {
    return this.#state !== 'pass';
  }

  send(message: Message): void {
    const verdict = this.#parts.judge(message);
    if (this.#state === 'pass') this.#state = verdict;
    if (this.#state === 'hold') this.#held.push(message);
    else if (this.#state === 'pass') this.#forward(message);
  }

  /** Lets what was held go on its way, late. */
  letGo(): void {
    if (this.#state !== 'hold') return;
    this.#state = 'pass';
    for (const message of this.#held.splice(0)) this.#forward(message);
  }

  #forward(message: Message): void {
    const delayMs = this.#parts.delayMs();
    const dueMs = monotonicMs() + delayMs;
    if (this.#underWay === 0 && delayMs === 0) {
      this.#write(message);
      return;
    }
    this.#underWay += 1;
    this.drained = this.drained.then(async () => {
      const waitMs = dueMs - monotonicMs();
      if (waitMs > 0) await delay(waitMs);
      this.#write(message);
      this.#underWay -= 1;
    });
  }

  #write(message: Message): void {
    const { to, passes } = this.#parts;
    if (!to.writable) return;
    passes(message);
    to.write(message.bytes);
  }
}
