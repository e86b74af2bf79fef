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

/** Options with which jobs run in this process. */
export const RUNNING: SingletonJobOptions = { projectName: 'test', store: 'memory' };

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

/** An application that has not started. */
export function compileApplication(root: ModuleMetadata, logger = new RecordingLogger()): Promise<TestingModule> {
  @Module(root)
  class AppModule {}

  const builder = Test.createTestingModule({ imports: [AppModule] });
  return builder.setLogger(logger).compile();
}

/** Starts an application and stops it at the end of the block: `await using`. */
export async function startApplication(root: ModuleMetadata): Promise<StartedApplication> {
  const logger = new RecordingLogger();
  const app = await compileApplication(root, logger);
  await app.init();
  return {
    app,
    logger,
    jobs: () => app.get(JobExplorer, { strict: false }).explore([], []).jobs,
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** The same with an HTTP server. */
export async function startHttp(root: ModuleMetadata) {
  const app = (await compileApplication(root)).createNestApplication();
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl(), [Symbol.asyncDispose]: () => app.close() };
}

type MoreOptions = Partial<SingletonJobOptions>;

function startWith(root: ModuleMetadata, options: SingletonJobOptions): Promise<StartedApplication> {
  return startApplication({ ...root, imports: [...(root.imports ?? []), SingletonJobModule.forRoot(options)] });
}

/** An application with these providers whose jobs do not run. */
export const startDisabled = (root: ModuleMetadata, more: MoreOptions = {}) =>
  startWith(root, { ...DISABLED, ...more });

/** An application with these providers whose jobs run. */
export const startRunning = (root: ModuleMetadata, more: MoreOptions = {}) => startWith(root, { ...RUNNING, ...more });

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
