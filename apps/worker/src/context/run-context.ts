import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { type InterceptedRun, type RunInterceptor } from 'nestjs-singleton-job';

const current = new AsyncLocalStorage<InterceptedRun>();

/** Lets everything below a run know which one it is. */
@Injectable()
export class RunContext implements RunInterceptor {
  intercept(run: InterceptedRun, next: () => Promise<unknown>): Promise<unknown> {
    return current.run(run, next);
  }
}

/** The run that this call is made for, however many awaits away; undefined outside of any. */
export function runOfThisCall(): InterceptedRun | undefined {
  return current.getStore();
}
