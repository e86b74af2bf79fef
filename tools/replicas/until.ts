import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from './busy-machine.js';

export interface UntilOptions {
  /** @default {@link PATIENCE_MS} */
  readonly withinMs?: number;
  /** What else a failure says, such as everything that was logged. */
  readonly details?: () => string;
}

const POLL_MS = 10;

/** Not there yet. */
type Missing = false | undefined;

/**
 * Resolves to what `look` finds, once it finds something. Rejects after a time that is long enough for a busy machine.
 */
export async function until<T>(
  what: string,
  look: () => T | Missing | Promise<T | Missing>,
  { withinMs = PATIENCE_MS, details = () => '' }: UntilOptions = {},
): Promise<T> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    // after a blocked event loop, everything that is overdue happens before the last look
    const isLastLook = performance.now() > giveUpAtMs;
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (isLastLook) throw new Error(`not within ${withinMs} ms: ${what}\n${details()}`.trimEnd());
    await delay(POLL_MS);
  }
}
