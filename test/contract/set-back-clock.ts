import { type ServerStoreOptions } from '../../libs/singleton-job/src/store/server-store.js';
import { type Dialect, type SqlSession } from '../../libs/singleton-job/src/store/sql/sql-session.js';
import { type SqlStore } from '../../libs/singleton-job/src/store/sql/sql-store.js';

/** A clock that statements of stores read, and that a test sets back. */
export class SetBackClock {
  #behindMs = 0;

  setBack(ms: number): Promise<void> {
    this.#behindMs = ms;
    return Promise.resolve();
  }

  /** Lets the statements of this store read it. */
  giveTo<S extends SqlStore<ServerStoreOptions<unknown>, SqlSession>>(store: S): S {
    const newSession = store['newSession'].bind(store);
    const withClock = async (...args: Parameters<typeof newSession>) => this.#giveToSession(await newSession(...args));
    Object.assign(store, { newSession: withClock });
    return store;
  }

  #giveToSession(session: SqlSession): SqlSession {
    const ofClass: object = Object.getPrototypeOf(session) as object;
    const get = (): Dialect => {
      const dialect = Reflect.get(ofClass, 'dialect', session) as Dialect;
      return { ...dialect, now: `(${dialect.now} - ${String(this.#behindMs)})` };
    };
    return Object.defineProperty(session, 'dialect', { get });
  }
}
