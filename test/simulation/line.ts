import { type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { Connection, type ConnectionParts } from './connection.js';

export interface LineParts extends Omit<ConnectionParts, 'onEnd'> {
  /** Called by the server for a new client, before all requests. */
  readonly greet: (connection: Connection) => void;
  readonly onReady: (connection: Connection) => void;
  /** Called when the first attempt failed or the connection ended, once until the next `onReady`. */
  readonly onLost: () => void;
}

const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Keeps one connection of a process from `open()` to `close()`, as the client of the Redis store does. It connects again at once after
 * silence, otherwise after 0.25 s to 0.5 s.
 */
export class Line {
  readonly #parts: LineParts;
  #connection: Connection | undefined;
  #isReady = false;
  #isOpen = false;
  #isLossReported = false;
  #retry: Timer | undefined;
  #endFirstAttempt: () => void = () => undefined;
  #firstAttempt: Promise<void> | undefined;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  /** Undefined while there is no usable connection. */
  get connection(): Connection | undefined {
    return this.#isReady ? this.#connection : undefined;
  }

  /** Resolves when the first attempt has succeeded or failed. */
  get firstAttempt(): Promise<void> | undefined {
    return this.#firstAttempt;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#firstAttempt = new Promise((resolve) => (this.#endFirstAttempt = resolve));
    this.#connect();
  }

  close(): void {
    this.#stop();
    this.#endFirstAttempt();
    this.#connection?.close();
  }

  /** The process is gone. */
  abandon(): void {
    this.#stop();
    this.#connection?.abandon();
  }

  /** The conditions have changed. */
  conditionsChanged(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    if (this.#parts.conditions().way === 'refused') connection.reset();
    else connection.flush();
  }

  reset(): void {
    this.#connection?.reset();
  }

  #stop(): void {
    this.#isOpen = false;
    this.#isReady = false;
    this.#retry?.cancel();
  }

  #connect(): void {
    const { clock, chance, conditions, server } = this.#parts;
    // the host of the server accepts, even while the server hangs
    this.#retry = clock.setTimer(chance.between(0.5, 3), () => {
      const { way } = conditions();
      if (way === 'up' && (!server.isDown || this.#parts.isProxied)) this.#greet();
      else
        this.#retry = clock.setTimer(way === 'up' || way === 'refused' ? 0 : CONNECT_TIMEOUT_MS, () => {
          this.#lose(false);
        });
    });
  }

  #greet(): void {
    const { greet, onReady } = this.#parts;
    const connection: Connection = new Connection({
      ...this.#parts,
      onEnd: (isSilent) => {
        if (connection === this.#connection) this.#lose(isSilent);
      },
    });
    this.#connection = connection;
    const ready = (): void => {
      if (connection !== this.#connection || !this.#isOpen) return;
      this.#isReady = true;
      this.#isLossReported = false;
      this.#endFirstAttempt();
      onReady(connection);
    };
    connection
      .request(
        () => {
          greet(connection);
        },
        { read: ready },
      )
      .catch(() => undefined);
  }

  #lose(isSilent: boolean): void {
    this.#connection = undefined;
    this.#isReady = false;
    this.#endFirstAttempt();
    if (!this.#isOpen) return;
    if (!this.#isLossReported) this.#parts.onLost();
    this.#isLossReported = true;
    const { clock, chance } = this.#parts;
    this.#retry = clock.setTimer(isSilent ? 0 : chance.between(250, 500), () => {
      this.#connect();
    });
  }
}
