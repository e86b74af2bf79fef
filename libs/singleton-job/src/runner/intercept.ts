import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { type RunInterceptor } from '../events/index.js';

/** The job with its interceptors around each run, the first outermost. */
export function intercept(job: JobDefinition, interceptors: readonly RunInterceptor[]): JobDefinition {
  const invoke = interceptors.reduceRight<JobDefinition['invoke']>(
    (inner, interceptor) => (run) => around(interceptor, run, inner),
    (run) => job.invoke(run),
  );
  return interceptors.length === 0 ? job : { ...job, invoke };
}

/** One interceptor around what is inside it. Whatever it does, the job runs once at most, and is over when this is. */
async function around(interceptor: RunInterceptor, run: JobRun, inner: JobDefinition['invoke']): Promise<unknown> {
  let begun: Promise<unknown> | undefined;
  const next = (): Promise<unknown> => {
    begun ??= new Promise((resolve) => {
      // what took too long to prepare must not begin
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
    // one that does not wait for the job has decided not to know how it ended
    await begun?.catch(() => undefined);
  }
}
