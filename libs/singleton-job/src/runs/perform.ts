import { isObservable, type Observable, refuseUndone } from '../base/errors/refuse-undone.js';
import { onAbort } from '../base/time/sleep.js';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';

/**
 * Calls the method of a job. Resolves when its work has ended: an Observable that it returns is subscribed to until it
 * completes.
 *
 * @throws Error for work that was not done
 */
export async function perform(job: Job, run: JobRun): Promise<unknown> {
  return finish(await job.invoke(run), job, run);
}

/** The same for what the method has returned. */
export async function finish(returned: unknown, job: Job, run: JobRun): Promise<unknown> {
  if (!isObservable(returned)) return refuseUndone(returned, `the method of job '${job.name}'`);
  await completed(returned, run.signal);
  return undefined;
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
