/** Begins all tasks in their order, two at a time; answers at once with what each will come to. */
export function twoAtATime<T>(tasks: readonly (() => Promise<T>)[]): Promise<T>[] {
  const lanes: [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()];
  return tasks.map((task, index) => {
    const lane = index % 2 === 0 ? 0 : 1;
    const done = lanes[lane].then(task);
    // whoever waits for the task hears of its failure; the next one does not mind
    lanes[lane] = done.catch(() => undefined);
    return done;
  });
}
