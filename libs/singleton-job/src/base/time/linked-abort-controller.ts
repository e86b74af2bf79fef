import { onAbort } from './on-abort.js';

/**
 * Aborts also as soon as one of its sources does, until it is disposed of.
 *
 * `AbortSignal.any` is not used: in Node 20 to 24 a combined signal that still has a listener stays in memory for as long as its sources
 * live. Some of ours live as long as the process.
 */
export class LinkedAbortController extends AbortController {
  readonly #removers: readonly (() => void)[];

  constructor(...sources: readonly AbortSignal[]) {
    super();
    const abort = (): void => {
      this.abort();
    };
    this.#removers = sources.map((source) => onAbort(source, abort));
  }

  /** Listens to its sources no more. Call it when the work that has the signal has settled. */
  dispose(): void {
    for (const remove of this.#removers) remove();
  }
}
