/** The run that code below a job method belongs to. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { type JobRun } from '../jobs/job-run.js';

/** Made at first use: on Node 20 it makes every `await` of the process slower. */
let storage: AsyncLocalStorage<JobRun> | undefined;

/**
 * The run that the calling code belongs to, at any depth below a job method, also after `await`. Undefined outside of a
 * run, and without {@link currentRunInterceptor}.
 *
 * @see docs/recipes.md#the-job-in-each-log-line
 * @example `logger.log({ job: currentRun()?.job }, 'saved')`
 */
export function currentRun(): JobRun | undefined {
  return storage?.getStore();
}

/**
 * Makes {@link currentRun} work in all jobs.
 *
 * @example `SingletonJobModule.forRoot({ projectName: 'shop', connection, interceptors: [currentRunInterceptor] })`
 */
export const currentRunInterceptor: RunInterceptor = {
  intercept(run: JobRun, next) {
    storage ??= new AsyncLocalStorage();
    return storage.run(run, next);
  },
};
