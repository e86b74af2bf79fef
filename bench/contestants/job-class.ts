import { type Type } from '@nestjs/common';
import { type Job } from './contestant.js';

/** A provider with a decorated method for each job, as an application has it. */
export function jobClass<R extends (...args: never[]) => unknown>(
  jobs: readonly Job[],
  method: (job: Job) => R,
  decorator: (job: Job) => (target: object, name: string, descriptor: TypedPropertyDescriptor<R>) => unknown,
): Type {
  class Jobs {}
  for (const job of jobs) {
    const descriptor = { value: method(job), writable: true, configurable: true };
    Object.defineProperty(Jobs.prototype, job.name, descriptor);
    decorator(job)(Jobs.prototype, job.name, descriptor);
  }
  return Jobs;
}
