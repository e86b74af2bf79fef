import { type Fact } from './facts.js';

/** Remembers all facts and lets others wait for what they come to. */
export class Chronicle {
  readonly #facts: Fact[] = [];
  readonly #listeners = new Set<(fact: Fact) => void>();

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  readonly add = (fact: Fact): void => {
    this.#facts.push(fact);
    for (const listener of [...this.#listeners]) listener(fact);
  };

  /** Calls `listener` with each new fact. Returns the function that ends this. */
  listen(listener: (fact: Fact) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Resolves with the first new fact that `isIt` accepts. Rejects with the signal's reason when the signal fires. */
  next(isIt: (fact: Fact) => boolean, signal: AbortSignal): Promise<Fact> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        unlisten();
        signal.removeEventListener('abort', fail);
      };
      const fail = (): void => {
        end();
        reject(signal.reason as Error);
      };
      const unlisten = this.listen((fact) => {
        if (!isIt(fact)) return;
        end();
        resolve(fact);
      });
      signal.addEventListener('abort', fail);
      if (signal.aborted) fail();
    });
  }

  /** Resolves as soon as the facts so far are as `holds` wants them. */
  async until(holds: (facts: readonly Fact[]) => boolean, signal: AbortSignal): Promise<void> {
    if (!holds(this.facts)) await this.next(() => holds(this.facts), signal);
  }
}
