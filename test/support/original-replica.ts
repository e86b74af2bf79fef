import { type AnySchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { type Clock, sleep } from '../../libs/singleton-job/src/time/index.js';
import { beliefOf, type OriginalBelief, type OriginalVersion } from './original-belief.js';
import { originalLoop } from './original-loop.js';
import { type OriginalLock, type OriginalServer } from './original-server.js';

export interface OriginalRun {
  readonly job: string;
  readonly scheduledAt: Date;
}

export interface OriginalParts {
  readonly version: OriginalVersion;
  readonly server: OriginalServer;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly project: string;
  readonly job: string;
  readonly nodeId: string;
  readonly schedule: AnySchedule;
  /** Is let finish, whatever happens to the leadership: the original cancels a run on request only. */
  readonly run: (run: OriginalRun) => Promise<void>;
  /** Is told when the node notices that what it believes has changed: at its heartbeats, its ticks and its stop. */
  readonly believes?: (isLeader: boolean) => void;
  /** @default 3000 */
  readonly heartbeatIntervalMs?: number;
  /** @default 10000 */
  readonly lockExpiryMs?: number;
  /** @default 30000 */
  readonly maxBackoffDelayMs?: number;
}

/**
 * A stand-in for one node of the .NET library that this one ports, with one job: what it asks of Redis, when, and what it
 * makes of the answers, in its published version and in that of its main branch. It knows nothing of ours.
 */
export class OriginalReplica {
  /** Heartbeats that were answered. */
  beats = 0;
  readonly #parts: OriginalParts;
  readonly #lock: OriginalLock;
  readonly #belief: OriginalBelief;
  readonly #stop = new AbortController();
  #inFlight: Promise<void> | undefined;
  #believed = false;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(parts: OriginalParts) {
    const { version, server, clock, project, job, nodeId, lockExpiryMs = 10_000 } = parts;
    this.#parts = parts;
    this.#lock = { key: `${project}:${job}:lock`, nodeId, expiryMs: lockExpiryMs };
    this.#belief = beliefOf(version, { server, lock: this.#lock, clock });
  }

  get isLeader(): boolean {
    return !this.#stop.signal.aborted && this.#belief.isLeader;
  }

  start(): void {
    const { version, schedule, clock } = this.#parts;
    const tick = (scheduledAt: number): Promise<void> => this.#tick(scheduledAt);
    this.#loops = Promise.all([
      this.#elect(),
      originalLoop({ version, schedule, clock, stop: this.#stop.signal, tick }),
    ]);
  }

  /** SIGTERM: heartbeats end at once, then a run in flight is awaited, then the lock is released. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loops;
    await this.#inFlight;
    // asked by everybody who stops: it frees nothing that is not this node's
    await this.#parts.server.release(this.#lock).catch(() => undefined);
    this.#belief.forget();
    this.#notice();
  }

  /** SIGKILL: no heartbeat, no run and no release from now on. What is in flight is the caller's to count as gone. */
  kill(): void {
    this.#stop.abort();
    this.#belief.forget();
  }

  #notice(): void {
    if (this.isLeader === this.#believed) return;
    this.#believed = this.isLeader;
    this.#parts.believes?.(this.#believed);
  }

  async #elect(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.#belief.beat();
        this.beats += 1;
        failures = 0;
      } catch {
        failures += 1;
      }
      this.#notice();
      await sleep(clock, this.#pauseMs(failures), signal);
    }
  }

  /** min(heartbeat × 2^failures, ceiling) ± 20 %, with the jitter after the ceiling. */
  #pauseMs(failures: number): number {
    const { random, heartbeatIntervalMs = 3_000, maxBackoffDelayMs = 30_000 } = this.#parts;
    if (failures === 0 || !this.#belief.backsOff) return heartbeatIntervalMs;
    return Math.min(heartbeatIntervalMs * 2 ** failures, maxBackoffDelayMs) * (0.8 + 0.4 * random());
  }

  async #tick(scheduledAt: number): Promise<void> {
    const { job, run } = this.#parts;
    this.#notice();
    if (!this.isLeader || this.#inFlight !== undefined) return;
    this.#inFlight = run({ job, scheduledAt: new Date(scheduledAt) })
      .catch(() => undefined)
      .finally(() => {
        this.#inFlight = undefined;
      });
    await this.#inFlight;
  }
}
