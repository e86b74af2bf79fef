import { setFlagsFromString } from 'node:v8';

let drain: (() => void) | undefined;

/**
 * From now on the worlds of this process settle by emptying the queue of microtasks directly, instead of waiting for a turn of the event
 * loop for each event. The scenarios are the same and take half the time. This needs a flag of V8, so it is only for processes that do
 * nothing else.
 */
export function settleOnTheSpot(): void {
  setFlagsFromString('--allow-natives-syntax');
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the parser of TypeScript does not know this syntax
  drain = new Function('%PerformMicrotaskCheckpoint()') as () => void;
}

/**
 * Calls `step` until it returns false. All promises of a step have settled before the next step. Nothing in a simulation waits for
 * anything else.
 */
export async function eachSettled(step: () => boolean): Promise<void> {
  await settled();
  const drainNow = drain;
  if (drainNow === undefined) {
    while (step()) await settled();
    return;
  }
  // from a microtask the queue could not be emptied
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      while (step()) drainNow();
      resolve();
    });
  });
}

/** Resolves in the next turn of the event loop, when there are no microtasks left. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
