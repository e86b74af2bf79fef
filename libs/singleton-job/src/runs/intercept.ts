import { refuseUndone } from '../base/errors/refuse-undone.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';

/** Calls `work` within the interceptors, the first one outermost. */
export function intercept(interceptors: readonly RunInterceptor[], run: JobRun, work: Job['invoke']): unknown {
  const outermost = interceptors[0];
  if (outermost === undefined) return work(run);
  return around(outermost, run, () => intercept(interceptors.slice(1), run, work));
}

/** Calls one interceptor around `inner`. In any case `inner` runs at most once, and has settled when this settles. */
async function around(interceptor: RunInterceptor, run: JobRun, inner: () => unknown): Promise<unknown> {
  let result: Promise<unknown> | undefined;
  const next = (): Promise<unknown> => {
    result ??= new Promise((resolve) => {
      // the interceptor may have taken too long
      run.signal.throwIfAborted();
      run.assertLeader();
      resolve(inner());
    });
    // avoids an unhandled rejection when the interceptor drops the promise
    result.catch(() => undefined);
    return result;
  };
  try {
    return refuseUndone(await interceptor.intercept(run, next), `an interceptor of job '${run.job}'`);
  } finally {
    // the interceptor may not have waited for the job
    await result?.catch(() => undefined);
  }
}
