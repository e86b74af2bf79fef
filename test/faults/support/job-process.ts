import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../../../tools/workspace/paths.js';
import { until } from '../../../tools/replicas/until.js';
import { eachLine } from '../../../tools/replicas/each-line.js';
import { type JobProcessMessage, type JobFault } from './job-faults.js';

/** As in a container: the signal that Nest sends to itself does not end the process. So it exits only when nothing is left to do. */
const AS_PROCESS_ONE = `data:text/javascript,process.on('SIGTERM',()=>{})`;

/** A real process with a faulty job. Use it with `await using`, which ends the process. */
export class JobProcess implements AsyncDisposable {
  readonly messages: JobProcessMessage[] = [];
  readonly lines: string[] = [];
  /** How it ended: the code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly #child: ChildProcess;

  constructor(
    readonly node: string,
    { fault, redisUrl }: { readonly fault: JobFault; readonly redisUrl: string },
  ) {
    this.#child = fork(join(ROOT, 'test/faults/support/job-application.ts'), [], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], JOB_FAULT: fault, REDIS_URL: redisUrl, NODE_ID: node },
      execArgv: ['--import', 'tsx', '--import', AS_PROCESS_ONE],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.on('message', (message) => this.messages.push(message as unknown as JobProcessMessage));
    for (const stream of [this.#child.stdout, this.#child.stderr]) eachLine(stream, (line) => this.lines.push(line));
    // its last events and lines may arrive after the exit
    const drained = Promise.all([once(this.#child, 'close'), once(this.#child, 'disconnect')]);
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        void drained.then(() => {
          resolve(signal ?? code);
        });
      });
    });
  }

  /** The payloads of one event, by job. */
  of(event: JobProcessMessage['event'], job?: string): JobProcessMessage[] {
    return this.messages.filter((one) => one.event === event && (job === undefined || one.payload?.job === job));
  }

  /** Waits until `holds`, and fails with its last messages and lines if that takes too long. */
  until(what: string, holds: () => boolean): Promise<void> {
    const details = (): string =>
      [...this.messages.slice(-40).map((message) => JSON.stringify(message)), ...this.lines.slice(-40)].join('\n');
    return until(`${this.node}: ${what}`, holds, { details });
  }

  /** Lets it block its event loop, once. */
  provoke(): void {
    this.#child.send('now');
  }

  stop(): typeof this.ended {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}
