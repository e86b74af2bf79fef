import * as Sentry from '@sentry/node'; // or '@sentry/nestjs'
import { type RunInterceptor } from 'nestjs-singleton-job';

/** Sends each error of a job to Sentry, with the job as a tag. */
export const sentryErrors: RunInterceptor = {
  intercept: (run, next) =>
    Sentry.withIsolationScope(async (scope) => {
      scope.setTag('job', run.job);
      try {
        return await next();
      } catch (error) {
        // a run that was told to stop, or that assertLeader() stopped, did not fail
        if (!run.signal.aborted && !run.wasRefused) Sentry.captureException(error);
        throw error;
      }
    }),
};
