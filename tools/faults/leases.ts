import { byTerm, termKey, type WitnessedConfirmation } from '../../test/support/checker.js';
import { LOCK_EXPIRY_MS } from './settings.js';
import { type Exchange, isYes } from './wires.js';

/**
 * What replicas have read of their leases: the answers that said yes and were passed on, in this order. A request left before
 * it came by, and an answer was read after it was passed on: both are in favour of the replica.
 */
export function confirmationsIn(exchanges: readonly Exchange[]): WitnessedConfirmation[] {
  const tokens = new Map<string, Set<number>>();
  const answered = exchanges.flatMap(({ readMs, ...exchange }) =>
    readMs === undefined ? [] : [{ ...exchange, readMs }],
  );
  return answered
    .sort((one, other) => one.readMs - other.readMs)
    .flatMap((exchange) => {
      const { command, job, holder, process, sentMs, readMs, words: [, token] = [] } = exchange;
      if (command === 'release' || isYes(exchange) !== true) return [];
      const key = `${job} ${holder}`;
      const known = tokens.get(key) ?? new Set();
      tokens.set(key, known);
      // a bid that is granted anew after a loss of data has another token: it leads by the one or the other
      if (command === 'acquire') known.add(Number(token));
      return [...known].map((fencingToken) => ({ job, process, fencingToken, sentMs, answeredMs: readMs }));
    });
}

/** By what replicas have read, until when each lock was theirs. */
export class Leases {
  readonly #confirmed: ReadonlyMap<string, readonly WitnessedConfirmation[]>;

  constructor(confirmations: readonly WitnessedConfirmation[]) {
    this.#confirmed = byTerm({ confirmations });
  }

  /**
   * Whether the lock of its term was its process's when a run started. The lease ends a margin before: that much a process may lose
   * its core for between its last look and its first word.
   */
  covers(run: Pick<WitnessedConfirmation, 'process' | 'job' | 'fencingToken'>, atMs: number): boolean {
    const confirmed = this.#confirmed.get(termKey(run)) ?? [];
    return confirmed.some(({ sentMs, answeredMs }) => answeredMs <= atMs && atMs <= sentMs + LOCK_EXPIRY_MS);
  }
}
