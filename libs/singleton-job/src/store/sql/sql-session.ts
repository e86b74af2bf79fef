import { setTimeout as delay } from 'node:timers/promises';
import { type Session, type SessionParts } from '../connection.js';

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
  readonly serverId: string;
  /** Null: nothing is noted. */
  readonly server: string | null;
  readonly since: number | null;
  readonly isFirst: number;
}

export type Query = (sql: string, ...values: readonly SqlValue[]) => Promise<readonly Row[]>;

/** A statement, with a value for each `?` in it. */
export type Statement = readonly [sql: string, ...values: readonly SqlValue[]];

/**
 * Sends statements together. They are carried out one after the other, and none after one that fails. Resolves to the
 * rows of each SELECT. A statement about an empty list is left out.
 */
export type Send = (...statements: readonly Statement[]) => Promise<readonly (readonly Row[])[]>;

/** In what databases differ. */
export interface Dialect {
  /** Begins a transaction in which each statement reads what is committed when it begins. */
  readonly begin: readonly Statement[];
  /** Fails at `until` or later, but where transactions take turns: there no other request is answered meanwhile. */
  readonly commit: (until?: number) => readonly Statement[];
  readonly rollback: readonly Statement[];
  /** The time at which a row is read, in ms since the epoch. */
  readonly now: string;
  /** Which server answers. */
  readonly server: string;
  /** Locks the rows that a statement reads, without those that another replica has locked. */
  readonly skipLocked: string;
  /** Ends an INSERT: what to do with a row that is there. */
  readonly orUpdate: string;
  /**
   * Whether a statement waited in vain for a row that another replica has locked. The transaction goes on if its
   * savepoints are still there.
   */
  readonly isLocked: (error: unknown) => boolean;
}

const REPEAT_AFTER_MS = 5;

/** One connection to a database, from its begin to its end. */
export abstract class SqlSession<P extends SessionParts = SessionParts> implements Session {
  abstract readonly dialect: Dialect;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(protected readonly parts: P) {}

  abstract connect(): Promise<unknown>;
  abstract end(): unknown;

  /** Whether a request is under way. */
  get isBusy(): boolean {
    return this.#pending > 0;
  }

  readonly query: Query = async (...statement) => (await this.sendAll([statement]))[0] ?? [];

  readonly send: Send = async (...statements) => {
    const isEmpty = (value: SqlValue): boolean => Array.isArray(value) && value.length === 0;
    const sent = statements.filter(([, ...values]) => !values.some(isEmpty));
    const rows = sent.length === 0 ? [] : await this.sendAll(sent);
    return statements.filter(([sql]) => /^(SELECT|SHOW) /.test(sql)).map((one) => rows[sent.indexOf(one)] ?? []);
  };

  /** Carries out requests in the order of the calls, each again after a conflict. What fails is rolled back. */
  request<T>(task: () => Promise<T>): Promise<T> {
    return this.#inOrder(async () => {
      try {
        return await task();
      } catch (error: unknown) {
        await this.send(...this.dialect.rollback).catch(() => undefined);
        throw error;
      }
    });
  }

  /** One statement between two requests. It keeps no row locked while this process stalls. */
  readonly statement: Query = (sql, ...values) => this.#inOrder(() => this.query(sql, ...values));

  /** Resolves to the rows of each. */
  protected abstract sendAll(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;

  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const answer = this.#last.then(() => this.repeat(task)).finally(() => (this.#pending -= 1));
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
        giveUpAt = Math.min(giveUpAt, now + this.parts.answerTimeoutMs());
      }
      await delay(REPEAT_AFTER_MS * (0.5 + Math.random()));
    }
  }
}
