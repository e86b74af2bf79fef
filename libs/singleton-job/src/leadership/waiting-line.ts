import { type Asker, type Pass, type Question } from './question.js';

/** Somebody who waits. */
export interface Waiting {
  readonly job: string;
  readonly asker: Asker;
  /** Lets it through. */
  readonly go: (pass: Pass) => void;
}

/** The questions that wait until the store may be asked, in the order in which they came. */
export class WaitingLine {
  readonly #line = new Set<Waiting>();

  /** `onLeft` is called after each that was let through, or whose signal has aborted. */
  constructor(private readonly onLeft: () => void) {}

  get isEmpty(): boolean {
    return this.#line.size === 0;
  }

  get hasLeader(): boolean {
    return [...this.#line].some(isLeader);
  }

  /** Waits until the question is let through, and then for its answer by `send`; undefined once its signal aborts before. */
  join<T>({ job, asker, signal }: Question<T>, send: (pass: Pass) => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#line.delete(waiting);
        signal.removeEventListener('abort', giveUp);
        this.onLeft();
      };
      const giveUp = (): void => {
        leave();
        resolve(undefined);
      };
      const go = (pass: Pass): void => {
        leave();
        send(pass).then(resolve, reject);
      };
      const waiting: Waiting = { job, asker, go };
      this.#line.add(waiting);
      signal.addEventListener('abort', giveUp);
    });
  }

  all(): readonly Waiting[] {
    return [...this.#line];
  }

  leaders(): readonly Waiting[] {
    return this.all().filter(isLeader);
  }

  /** Whose turn it is: one of whom nothing is known yet, a leader first. Undefined if nobody waits. */
  next(isNew: (waiting: Waiting) => boolean): Waiting | undefined {
    return this.leaders().find(isNew) ?? this.all().find(isNew) ?? this.all()[0];
  }
}

function isLeader({ asker }: Waiting): boolean {
  return asker === 'leader';
}
