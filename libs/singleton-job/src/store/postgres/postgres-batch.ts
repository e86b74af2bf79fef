import { LockStoreError } from '../../base/errors/lock-store.error.js';

/** A step on one lock, as the function of the database reads it. */
export interface LockStep {
  readonly op: 'acquire' | 'renew' | 'claim' | 'release' | 'setPaused';
  readonly name: string;
  readonly [field: string]: unknown;
}

/** The answer to a step, by the names that the function gives its fields. */
export type Answer = Readonly<Record<string, unknown>>;

interface Waiting {
  readonly step: LockStep;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Steps of one turn of the event loop, and those that come while a batch is on its way, go as one call. */
export class PostgresBatch {
  readonly #send: (steps: readonly LockStep[]) => Promise<readonly (Answer | null)[]>;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(send: (steps: readonly LockStep[]) => Promise<readonly (Answer | null)[]>) {
    this.#send = send;
  }

  add(step: LockStep): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      // in one order everywhere, so that two batches never wait for each other
      const batch = this.#waiting
        .splice(0)
        .sort((a, b) => (a.step.name < b.step.name ? -1 : Number(a.step.name > b.step.name)));
      try {
        const answers = await this.#send(batch.map(({ step }) => step));
        batch.forEach(({ step, resolve, reject }, index) => {
          const answer = answers[index] ?? undefined;
          if (answer !== undefined) resolve(answer);
          else
            reject(
              new LockStoreError(
                'STORE_UNREACHABLE',
                `PostgreSQL did not carry out '${step.op}': another transaction has locked its row`,
              ),
            );
        });
      } catch (error: unknown) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isScheduled = false;
  }
}
