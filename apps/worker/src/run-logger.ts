import { ConsoleLogger } from '@nestjs/common';
import { currentRun } from 'nestjs-singleton-job/current-run';

/** Adds the run to each log line: the job, the tick, and the fencing token of the term. */
export class RunLogger extends ConsoleLogger {
  protected override formatContext(context: string): string {
    const run = currentRun();
    const within = run === undefined ? '' : `[${run.job} ${run.scheduledAt.toISOString()} #${run.fencingToken}] `;
    return `${super.formatContext(context)}${within}`;
  }

  protected override getJsonLogObject(...line: Parameters<ConsoleLogger['getJsonLogObject']>) {
    const { job, scheduledAt, fencingToken } = currentRun() ?? {};
    return {
      ...super.getJsonLogObject(...line),
      ...(job !== undefined && { run: { job, scheduledAt, fencingToken } }),
    };
  }
}
