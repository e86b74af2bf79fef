/** What there is of each thing, by its name. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Collects garbage, and counts what is left: all objects (a listener is one), the entries of all maps, sets and arrays,
 * and bytes. In jest it counts what the spec and its modules have made. It imports nothing, so its text is a program
 * for another process.
 */
export async function footprint(): Promise<Record<'objects' | 'entries' | 'heapBytes', number>> {
  const session = new (process.getBuiltinModule('node:inspector/promises').Session)();
  const contexts: number[] = [];
  session.on('Runtime.executionContextCreated', ({ params }) => contexts.push(params.context.id));
  session.connect();
  type Answer = Record<'result' | 'objects', { readonly objectId: string; readonly value: ReturnType<typeof count> }>;
  const post = session.post.bind(session) as unknown as (method: string, params?: object) => Promise<Answer>;
  await post('Runtime.enable');
  const { result } = await post('Runtime.evaluate', {
    expression: 'Object.prototype',
    contextId: Math.max(...contexts),
  });
  const { objects } = await post('Runtime.queryObjects', { prototypeObjectId: result.objectId });
  const counting = { objectId: objects.objectId, functionDeclaration: String(count), returnByValue: true };
  const counted = await post('Runtime.callFunctionOn', counting);
  session.disconnect();
  const { heapUsed, external } = process.memoryUsage();
  return { ...counted.result.value, heapBytes: heapUsed + external };

  function count(this: readonly object[]) {
    const { types } = process.getBuiltinModule('node:util');
    const sizeOf = (one: object): number =>
      types.isMap(one) || types.isSet(one) ? one.size : Array.isArray(one) ? one.length : 0;
    return { objects: this.length, entries: this.reduce((sum, one) => sum + sizeOf(one), 0) };
  }
}

/** What has grown by more than its slack, which is 0 by default, or was not counted. */
export function grown(before: Counts, after: Counts, slack: Counts): string[] {
  return Object.keys({ ...after, ...slack }).flatMap((what) => {
    const by = (after[what] ?? NaN) - (before[what] ?? NaN);
    return by <= (slack[what] ?? 0) ? [] : `${what} by ${String(by)} to ${String(after[what])}`;
  });
}
