// job-field.ts
import { currentRun } from 'nestjs-singleton-job/current-run';

export function jobField(): { job?: string } {
  const run = currentRun();
  return run === undefined ? {} : { job: run.job };
}

export const addJob = <T extends object>(line: T): T => Object.assign(line, jobField());
