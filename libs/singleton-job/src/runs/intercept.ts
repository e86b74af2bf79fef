import { type JobRun } from '../jobs/job-run.js';
import { type RunInterceptor } from '../base/events/run-interceptor.js';

/** Calls `work` within the interceptors from `index` on, the first one outermost. */
export function intercept(
  interceptors: readonly RunInterceptor[],
  run: JobRun,
  work: (run: JobRun) => unknown,
  index = 0,
): unknown {
  const outermost = interceptors[index];
  return outermost === undefined
    ? work(run)
    : around(outermost, run, () => intercept(interceptors, run, work, index + 1));
}

/** Calls one interceptor around `inner`. In any case `inner` runs at most once, and has settled when this settles. */
async function around(interceptor: RunInterceptor, run: JobRun, inner: () => unknown): Promise<unknown> {
  let begun: Promise<unknown> | undefined;
  const next = (): Promise<unknown> => {
    begun ??= new Promise((resolve) => {
      // the interceptor may have taken too long
      run.signal.throwIfAborted();
      run.assertLeader();
      resolve(inner());
    });
    // avoids an unhandled rejection when the interceptor drops the promise
    begun.catch(() => undefined);
    return begun;
  };
  try {
    return await interceptor.intercept(run, next);
  } finally {
    // the interceptor may not have waited for the job
    await begun?.catch(() => undefined);
  }
}
