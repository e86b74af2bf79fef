import { type Type } from '@nestjs/common';
import { type Job } from './contestant.js';

/** V8 keeps a class with very many methods in another form, which takes ten times the memory. */
const METHODS_OF_A_CLASS = 10;

/** Providers with a decorated method for each job, as an application has them. */
export function jobClasses<R extends (...args: never[]) => unknown>(
  jobs: readonly Job[],
  method: (job: Job) => R,
  decorator: (job: Job) => (target: object, name: string, descriptor: TypedPropertyDescriptor<R>) => unknown,
): Type[] {
  const classes: Type[] = [];
  for (let first = 0; first < jobs.length; first += METHODS_OF_A_CLASS) {
    class Jobs {}
    for (const job of jobs.slice(first, first + METHODS_OF_A_CLASS)) {
      const descriptor = { value: method(job), writable: true, configurable: true };
      Object.defineProperty(Jobs.prototype, job.name, descriptor);
      decorator(job)(Jobs.prototype, job.name, descriptor);
    }
    classes.push(Jobs);
  }
  return classes;
}
