import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { type RunInterceptor } from '../events/index.js';

/** A job that calls its interceptors around each run, the first one outermost. */
export function intercept(job: JobDefinition, interceptors: readonly RunInterceptor[]): JobDefinition {
  const invoke = interceptors.reduceRight<JobDefinition['invoke']>(
    (inner, interceptor) => (run) => around(interceptor, run, inner),
    (run) => job.invoke(run),
  );
  return interceptors.length === 0 ? job : { ...job, invoke };
}

/** Calls one interceptor around `inner`. In any case `inner` runs at most once, and has settled when this settles. */
async function around(interceptor: RunInterceptor, run: JobRun, inner: JobDefinition['invoke']): Promise<unknown> {
  let begun: Promise<unknown> | undefined;
  const next = (): Promise<unknown> => {
    begun ??= new Promise((resolve) => {
      // the interceptor may have taken too long
      run.signal.throwIfAborted();
      run.assertLeader();
      resolve(inner(run));
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
