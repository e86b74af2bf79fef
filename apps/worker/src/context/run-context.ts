import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { type InterceptedRun, type RunInterceptor } from 'nestjs-singleton-job';

const current = new AsyncLocalStorage<InterceptedRun>();

/** Makes the current run available to all code below it. */
@Injectable()
export class RunContext implements RunInterceptor {
  intercept(run: InterceptedRun, next: () => Promise<unknown>): Promise<unknown> {
    return current.run(run, next);
  }
}

/** The run that this call belongs to, also after any number of awaits. Undefined outside of a run. */
export function runOfThisCall(): InterceptedRun | undefined {
  return current.getStore();
}
