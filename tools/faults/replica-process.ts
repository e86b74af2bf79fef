import { type ChildProcess, fork } from 'node:child_process';
import { type ReplicaCommand, type ReplicaOrder } from '../../test/faults/replica/order.js';
import { guard } from '../redis/guard.js';
import { type Witness } from './witness.js';

const STDERR_KEPT = 4_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One real process of the replica application. What is done to it stands in the record of the witness. */
export class ReplicaProcess {
  readonly name: string;
  /** Resolves once it has ended and its last words were heard. */
  readonly exited: Promise<Exit>;
  readonly #witness: Witness;
  readonly #child: ChildProcess;
  #exit: Exit | undefined;
  #errors = '';

  constructor(main: string, order: ReplicaOrder, witness: Witness) {
    this.name = order.name;
    this.#witness = witness;
    witness.note('spawned', this.name);
    this.#child = fork(main, {
      env: { PATH: process.env['PATH'], REPLICA: JSON.stringify(order) },
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'ignore', 'pipe', witness.pipe, 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-STDERR_KEPT);
    });
    this.exited = this.#untilExit();
  }

  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  /** Undefined while it lives. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** What it printed last, for a failure. */
  get errors(): string {
    return this.#errors;
  }

  /** Ends it as a crash does. */
  kill(): Promise<Exit> {
    return this.#signal('SIGKILL', 'killed');
  }

  /** Asks it to stop, as a deploy does. */
  terminate(): Promise<Exit> {
    return this.#signal('SIGTERM', 'terminated');
  }

  /** Lets it stand still. */
  stop(): void {
    this.#child.kill('SIGSTOP');
    this.#witness.note('stopped', this.name);
  }

  /** The note comes first: what it says when it goes on comes after it. */
  resume(): void {
    this.#witness.note('resumed', this.name);
    this.#child.kill('SIGCONT');
  }

  order(command: ReplicaCommand): void {
    this.#child.send(command);
  }

  #signal(signal: NodeJS.Signals, event: 'killed' | 'terminated'): Promise<Exit> {
    if (this.#exit === undefined) {
      this.#child.kill(signal);
      this.#witness.note(event, this.name);
    }
    return this.exited;
  }

  #untilExit(): Promise<Exit> {
    // a process that stands still would outlive a test that was killed
    const guarded = guard(this.pid, this.#witness.folder);
    return new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        guarded.dismiss();
        // its last words are in the pipe: they come with the next read
        void this.#witness.caughtUp().then(() => {
          this.#exit = { code, signal };
          this.#witness.note('exited', this.name, { reason: signal ?? String(code) });
          resolve(this.#exit);
        });
      });
    });
  }
}
