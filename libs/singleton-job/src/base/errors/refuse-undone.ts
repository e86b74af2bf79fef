/**
 * Returns what a function of the user returned, unless its work begins or ends only when that is called, read, awaited
 * or subscribed to, which never happens. An iterator that cannot be closed, as of a `Map`, has data.
 *
 * @throws Error with the fix
 */
export function refuseUndone<T>(returned: T, whose: string): T {
  const [values, article] = Array.isArray(returned) ? [returned as unknown[], 'an array with '] : [[returned], ''];
  for (const value of values) {
    const [, what, fix] = UNDONE.find(([is]) => is(Object(value) as Members)) ?? [];
    if (what !== undefined) throw new Error(`${whose} returned ${article}${what}: ${fix}`);
  }
  return returned;
}

/** As much of an Observable of rxjs as is used here. */
export interface Observable {
  subscribe(observer: { error(error: unknown): void; complete(): void }): { unsubscribe(): void };
}

/** As `isObservable()` of rxjs does: an object may come from another copy of rxjs. */
export function isObservable(value: unknown): value is Observable {
  const { lift, subscribe } = Object(value) as Members;
  return [lift, subscribe].every(isFunction);
}

type Members = Readonly<Record<string, unknown>>;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const UNDONE: readonly (readonly [is: (value: Members) => boolean, what: string, fix: string])[] = [
  [isFunction, 'a function, which is never called', 'call it, and return its result'],
  [isObservable, 'an Observable, which is never subscribed to', 'return lastValueFrom() of it'],
  [({ then }) => isFunction(then), 'a promise, which is never awaited', 'return Promise.all() of them'],
  [
    ({ next, return: end }) => [next, end].every(isFunction),
    'a generator, whose body never runs',
    'read it with for await, and return after that',
  ],
  [
    ({ exitCode, kill }) => exitCode === null && isFunction(kill),
    'a process that has not ended',
    "await once(it, 'close') of node:events",
  ],
  [
    (value) => (Symbol.asyncIterator in value && value['readable'] !== false) || value['writableFinished'] === false,
    'a stream or a cursor that has not ended',
    'await pipeline() of it, or read it with for await',
  ],
];
