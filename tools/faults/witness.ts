import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { monotonicMs } from './monotonic.js';
import { PATIENCE_MS } from './settings.js';
import { inLines, type Testimony, type WitnessedEvent } from './testimony.js';

const STORY_LINES = 60;

/**
 * Writes down what replicas say and what is done to them, in the order in which it happened. It knows nothing of Redis.
 *
 * All replicas write into one pipe, each line in one write: the kernel keeps their order, and keeps what was written
 * whatever becomes of the writer. A replica that stands still says nothing; what it says when it goes on comes late, and
 * carries the time by its own monotonic clock, which is the machine's.
 */
export class Witness implements AsyncDisposable {
  readonly startedMs = monotonicMs();
  /** What a right wall clock showed when the monotonic one was at 0. */
  readonly epochMs = Date.now() - this.startedMs;
  readonly record: Testimony[] = [];
  /** A folder of its own, for as long as it lives. */
  readonly folder: string;
  /** The end of the pipe that replicas are given. */
  readonly pipe: number;
  readonly #reader: Socket;
  readonly #listeners = new Set<(testimony: Testimony) => void>();

  private constructor(folder: string) {
    this.folder = folder;
    const path = join(folder, 'witness');
    execFileSync('mkfifo', [path]);
    // open for writing too, so that it does not end while there is no replica
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    this.pipe = openSync(path, constants.O_WRONLY);
    this.#reader = new Socket({ fd, readable: true, writable: false });
    createInterface(this.#reader).on('line', (line) => {
      this.#add({ ...(JSON.parse(line) as Omit<Testimony, 'atMs'>), atMs: monotonicMs() });
    });
  }

  static async open(): Promise<Witness> {
    return new Witness(await mkdtemp(join(tmpdir(), 'singleton-job-witness-')));
  }

  /** What the test does goes into the same record. */
  note(event: WitnessedEvent, replica = '', facts: Partial<Testimony> = {}): void {
    this.#add({ atMs: monotonicMs(), event, replica, ...facts });
  }

  /** Resolves once everything that was written before this was called has been read. */
  async caughtUp(): Promise<void> {
    // a turn of the event loop reads as much as a pipe holds; the first one may be half over
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Tells `listener` from now on, in order; returns how to stop that. */
  listen(listener: (testimony: Testimony) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the first testimony from now on that is meant; rejects with the end of the record if there is none. */
  next(what: string, isMeant: (testimony: Testimony) => boolean): Promise<Testimony> {
    return new Promise((resolve, reject) => {
      const stop = this.listen((testimony) => {
        if (!isMeant(testimony)) return;
        end();
        resolve(testimony);
      });
      const timer = setTimeout(() => {
        end();
        reject(new Error(`not within ${String(PATIENCE_MS)} ms: ${what}\n${this.story()}`));
      }, PATIENCE_MS);
      const end = (): void => {
        stop();
        clearTimeout(timer);
      };
    });
  }

  /** The last lines of the record. */
  story(): string {
    return inLines(this.record, this.startedMs).slice(-STORY_LINES).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    closeSync(this.pipe);
    this.#reader.destroy();
    await rm(this.folder, { recursive: true, force: true });
  }

  #add(testimony: Testimony): void {
    this.record.push(testimony);
    for (const listener of this.#listeners) listener(testimony);
  }
}
