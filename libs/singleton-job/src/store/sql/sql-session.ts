import { setTimeout as delay } from 'node:timers/promises';
import { type Lost, type Session } from '../connection.js';

/** What a statement takes. A list stands for its values with commas between them, a list in it has parentheses. */
export type SqlValue = string | number | null | readonly SqlValue[];

/** What a statement reads: some of these. */
export interface Row {
  readonly name: string;
  readonly revision: number;
  readonly value: string;
  readonly forgetAt: number | null;
  readonly id: string;
  readonly endsAt: number;
  readonly time: number;
  readonly here: string;
  /** Null: nothing is noted. */
  readonly server: string | null;
  readonly since: number | null;
  readonly isFirst: number;
}

export type Query = (sql: string, ...values: readonly SqlValue[]) => Promise<readonly Row[]>;

/** In what databases differ. */
export interface Dialect {
  /** Begins a transaction in which each statement reads what is committed when it begins. */
  readonly begin: string;
  /** The time at which a row is read, in ms since the epoch. */
  readonly now: string;
  /** Which server answers. */
  readonly server: string;
  /** Locks the rows that a statement reads. */
  readonly forUpdate: string;
  /** The same, without those that another replica has locked. */
  readonly skipLocked: string;
  /** Ends an INSERT: what to do with a row that is there. */
  readonly orUpdate: string;
  /**
   * Whether a statement waited in vain for a row that another replica has locked. The transaction goes on if its
   * savepoint `begun` is still there.
   */
  readonly isLocked: (error: unknown) => boolean;
}

/** What a session needs of its store. */
export interface SqlSessionParts {
  readonly lost: Lost;
  /** How long a transaction is repeated. */
  readonly silenceMs: () => number;
}

const REPEAT_AFTER_MS = 5;

/** One connection to a database, from its begin to its end. */
export abstract class SqlSession<P extends SqlSessionParts = SqlSessionParts> implements Session {
  abstract readonly dialect: Dialect;
  abstract readonly query: Query;
  #last: Promise<unknown> = Promise.resolve();

  constructor(protected readonly parts: P) {}

  abstract connect(): Promise<unknown>;
  abstract end(): unknown;

  /** Fails at `until` or later, but where transactions take turns: there no other request is answered meanwhile. */
  protected readonly commit: (until: number) => string = () => 'COMMIT';
  protected readonly rollback: string = 'ROLLBACK';

  /** Carries out all of it or nothing, in the order of the calls: nothing at `until` or later, or for null. */
  transaction<T>(task: (query: Query) => Promise<T>, until = Number.MAX_SAFE_INTEGER): Promise<T> {
    return this.#inTurn(() => this.#try(task, until));
  }

  /** One statement between two transactions. It keeps no row locked while this process stalls. */
  readonly single: Query = (sql, ...values) => this.#inTurn(() => this.query(sql, ...values));

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(() => this.repeat(task));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Whether another replica was first, so that the same can succeed in a moment. */
  protected abstract isConflict(error: unknown): boolean;

  protected async repeat<T>(task: () => Promise<T>): Promise<T> {
    let giveUpAt = Infinity;
    for (;;) {
      try {
        return await task();
      } catch (error: unknown) {
        const now = performance.now();
        if (!this.isConflict(error) || now > giveUpAt) throw error;
        // from the first one on: it may have waited long for what the other replica wrote
        giveUpAt = Math.min(giveUpAt, now + this.parts.silenceMs());
      }
      await delay(REPEAT_AFTER_MS * (0.5 + Math.random()));
    }
  }

  async #try<T>(task: (query: Query) => Promise<T>, until: number): Promise<T> {
    await this.query(this.dialect.begin);
    try {
      const result = await task(this.query);
      await this.query(result === null ? this.rollback : this.commit(until));
      return result;
    } catch (error: unknown) {
      await this.query(this.rollback).catch(() => undefined);
      throw error;
    }
  }
}
