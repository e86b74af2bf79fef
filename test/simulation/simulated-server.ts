import { type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { type TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { type Request } from './plan.js';
import { type Timeline } from './timeline.js';

/** A connection as the server has it. */
export interface Client {
  /** The server is gone. `isNoticed`: its host says so, otherwise nothing arrives any more. */
  serverGone(isNoticed: boolean): void;
}

export interface SimulatedServerParts {
  readonly timeline: Timeline;
  /** Its data, and how it carries out requests. */
  readonly data: TestServer;
  /** A proxy is in front of it. It keeps the request connections during a restart, and forwards the waiting requests. */
  readonly isProxied: boolean;
  /** Called when a request arrives that was under way when its connection ended. */
  readonly arrivedLate?: () => void;
}

/** The process of the server. It may hang or be down. Another may replace it, with the same data, older data or none. */
export class SimulatedServer {
  readonly data: TestServer;
  readonly isProxied: boolean;
  readonly arrivedLate: () => void;
  readonly #timeline: Timeline;
  readonly #clients = new Set<Client>();
  #hangs = 0;
  #downs = 0;
  #start = 1;
  #held: (() => void)[] = [];
  /** Requests that it answers with an error. */
  readonly refused = new Map<Request, LockStoreError>();

  constructor({ timeline, data, isProxied, arrivedLate = () => undefined }: SimulatedServerParts) {
    this.#timeline = timeline;
    this.data = data;
    this.isProxied = isProxied;
    this.arrivedLate = arrivedLate;
  }

  /** Which server it is: another number after each start. */
  get start(): number {
    return this.#start;
  }

  get isDown(): boolean {
    return this.#downs > 0;
  }

  /** Whether it carries out every request. */
  get isWell(): boolean {
    return !this.isDown && this.#hangs === 0 && this.refused.size === 0;
  }

  connect(client: Client): void {
    this.#clients.add(client);
  }

  disconnect(client: Client): void {
    this.#clients.delete(client);
  }

  /** A request arrives that was sent to the server of this start. A server that hangs carries it out when it continues. */
  arrive(start: number, carryOut: () => void): void {
    if (!this.isProxied && (start !== this.#start || this.isDown)) return;
    if (this.#hangs > 0 || this.isDown) {
      this.#held.push(() => {
        this.arrive(start, carryOut);
      });
    } else {
      carryOut();
    }
  }

  hang(): void {
    this.#hangs += 1;
  }

  goOn(): void {
    this.#hangs -= 1;
    this.#takeHeld();
  }

  /** This server is gone. It starts again, or another replaces it, when `begin` is called. */
  end(isNoticed: boolean): void {
    this.#start += 1;
    this.#downs += 1;
    for (const client of [...this.#clients]) client.serverGone(isNoticed);
  }

  begin(): void {
    this.#downs -= 1;
    this.#takeHeld();
  }

  #takeHeld(): void {
    if (this.#hangs > 0 || this.isDown) return;
    const held = this.#held;
    this.#held = [];
    for (const carryOut of held) this.#timeline.after(0, carryOut);
  }
}
