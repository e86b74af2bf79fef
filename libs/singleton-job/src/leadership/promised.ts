/** Calls a store, which another author may have written: what it throws is a rejection too. */
export async function promised<T>(request: () => T | Promise<T>): Promise<T> {
  return request();
}
