import { type LoggerService, Module, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { JobExplorer } from '../../libs/singleton-job/src/nest/job-explorer.js';
import {
  InvalidJobsError,
  InvalidOptionsError,
  SingletonJobModule,
  type SingletonJobOptions,
} from 'nestjs-singleton-job';

/** Options that need neither Redis nor time: jobs are discovered and checked, none runs. */
export const DISABLED: SingletonJobOptions = { projectName: 'test', enabled: false };

/** Keeps what is logged, as `level: message`. */
export class RecordingLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly log = (message: unknown): number => this.lines.push(`log: ${String(message)}`);
  readonly warn = (message: unknown): number => this.lines.push(`warn: ${String(message)}`);
  readonly error = (message: unknown): number => this.lines.push(`error: ${String(message)}`);
  readonly debug = (message: unknown): number => this.lines.push(`debug: ${String(message)}`);
  readonly verbose = (message: unknown): number => this.lines.push(`verbose: ${String(message)}`);
}

export interface StartedApplication extends AsyncDisposable {
  readonly app: TestingModule;
  readonly logger: RecordingLogger;
  /** What the explorer finds. */
  jobs(): readonly Job[];
}

/** Starts an application and stops it at the end of the block: `await using`. */
export async function startApplication(root: ModuleMetadata): Promise<StartedApplication> {
  @Module(root)
  class AppModule {}

  const logger = new RecordingLogger();
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(logger)
    .compile();
  await app.init();
  return {
    app,
    logger,
    jobs: () => app.get(JobExplorer, { strict: false }).explore([], []).jobs,
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** An application with these providers whose jobs do not run. */
export function startDisabled(
  root: ModuleMetadata,
  options: Partial<SingletonJobOptions> = {},
): Promise<StartedApplication> {
  const imports = [...(root.imports ?? []), SingletonJobModule.forRoot({ ...DISABLED, ...options })];
  return startApplication({ ...root, imports });
}

/** The mistakes that start-up reports; nothing if it started. */
export async function problemsOf(starting: Promise<StartedApplication>): Promise<readonly string[]> {
  try {
    await (await starting).app.close();
    return [];
  } catch (error: unknown) {
    if (error instanceof InvalidOptionsError || error instanceof InvalidJobsError) return error.problems;
    throw error;
  }
}
