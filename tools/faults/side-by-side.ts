/** Works through `items`, `width` of them at a time. What one of them rejects with, all do, once the others have ended. */
export async function sideBySide<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  const ends = await Promise.allSettled(Array.from({ length: width }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
