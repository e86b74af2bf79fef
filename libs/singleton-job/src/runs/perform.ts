import { onAbort } from '../base/time/on-abort.js';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';

/**
 * Calls the method of a job. Resolves when its work has ended: an Observable that it returns is subscribed to until it
 * completes.
 *
 * @throws Error for what would begin only if somebody read or called it: then the work was not done
 */
export async function perform(job: Job, run: JobRun): Promise<unknown> {
  const returned: unknown = await job.invoke(run);
  // most jobs return nothing
  if (returned === undefined) return undefined;
  if (isObservable(returned)) return completed(returned, run.signal);
  const [what, fix] = UNDONE.find(({ is }) => is(returned))?.words ?? [];
  if (what !== undefined) throw new Error(`the method of job '${job.name}' returned ${what}: ${fix}`);
  return returned;
}

type Has<K extends PropertyKey> = Partial<Record<K, unknown>>;

const UNDONE: readonly {
  readonly is: (value: unknown) => boolean;
  readonly words: readonly [what: string, fix: string];
}[] = [
  {
    is: (value) => typeof value === 'function',
    words: ['a function, which nobody calls', 'call it, and return its result'],
  },
  {
    is: (value) => typeof (value as Has<'next'> | null)?.next === 'function',
    words: ['a generator, whose body nobody runs', 'read it with for await, and return after that'],
  },
  {
    is: (value) => Array.isArray(value) && value.some((one: Has<'then'> | null) => typeof one?.then === 'function'),
    words: ['an array of promises, which nobody awaits', 'return Promise.all() of them'],
  },
];

/** As much of an Observable of rxjs as is used here. */
interface Observable {
  subscribe(observer: { error(error: unknown): void; complete(): void }): { unsubscribe(): void };
}

/** As `isObservable()` of rxjs does: an object may come from another copy of rxjs. */
function isObservable(value: unknown): value is Observable {
  const { lift, subscribe } = Object(value) as Has<'lift' | 'subscribe'>;
  return typeof lift === 'function' && typeof subscribe === 'function';
}

function completed(observable: Observable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const subscription = observable.subscribe({ error: reject, complete: resolve });
    onAbort(signal, () => {
      subscription.unsubscribe();
      reject(signal.reason as Error);
    });
  });
}
