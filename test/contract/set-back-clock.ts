import { type Dialect, type SqlSession } from '../../libs/singleton-job/src/store/sql/sql-session.js';

/** The same session, whose statements read a clock that is behind. */
export function setBackClock<S extends SqlSession>(session: S, byMs: () => number): S {
  const ofClass: object = Object.getPrototypeOf(session) as object;
  const get = (): Dialect => {
    const dialect = Reflect.get(ofClass, 'dialect', session) as Dialect;
    return { ...dialect, now: `(${dialect.now} - ${String(byMs())})` };
  };
  return Object.defineProperty(session, 'dialect', { get });
}
