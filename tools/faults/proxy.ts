import { createServer, type Server } from 'node:net';
import { freePort } from '../redis/free-port.js';
import { Connection } from './connection.js';
import { type Verdict } from './lane.js';
import { type Message } from './message.js';
import { fate, type Weather } from './weather.js';

/** Stops at a step: sees each message before it passes, and may decide what becomes of one. Undefined: not this one. */
export type Trap = (message: Message) => Verdict | undefined;

export interface Watch {
  readonly comes: (message: Message) => void;
  readonly passes: (message: Message) => void;
}

/** A TCP proxy between one replica and Redis that knows the library's scripts. */
export class Proxy {
  /** Where connections go from now on. */
  redisPort: number;
  weather: Weather = 'fine';
  /** How long a message is under way, each way. */
  delayMs = 0;
  /** Messages that the weather kept from passing, and connections that were refused. */
  disturbed = 0;
  /** Sees everything that comes by, and what is passed on of it. */
  watch: Watch = { comes: () => undefined, passes: () => undefined };
  readonly port: number;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #traps = new Set<Trap>();
  #refuses = false;

  private constructor(port: number, redisPort: number) {
    this.port = port;
    this.redisPort = redisPort;
    this.#server = createServer({ allowHalfOpen: false }, (client) => {
      if (this.#refuses) {
        this.disturbed += 1;
        client.resetAndDestroy();
        return;
      }
      const connection: Connection = new Connection({
        client,
        redisPort: this.redisPort,
        judge: (message) => this.#judge(message),
        passes: (message) => {
          this.watch.passes(message);
        },
        delayMs: () => this.#delay(),
        onClose: () => {
          this.#connections.delete(connection);
        },
      });
      this.#connections.add(connection);
    });
  }

  static async start(redisPort: number): Promise<Proxy> {
    const proxy = new Proxy(await freePort(), redisPort);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(proxy.port, '127.0.0.1', resolve);
    });
    return proxy;
  }

  /** Whether the replica can ask, and hears of releases. */
  get serves(): boolean {
    const serving = new Set([...this.#connections].map(({ serves }) => serves));
    return serving.has('commands') && serving.has('messages');
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  /** Catches the first message that `trap` decides about, and resolves with it; never, once `gone` has aborted. */
  catch(trap: Trap, gone: AbortSignal): Promise<Message> {
    return new Promise((resolve) => {
      const once: Trap = (message) => {
        const verdict = trap(message);
        if (verdict !== undefined) {
          this.#traps.delete(once);
          resolve(message);
        }
        return verdict;
      };
      this.#traps.add(once);
      gone.addEventListener('abort', () => {
        this.#traps.delete(once);
      });
    });
  }

  /** Ends every connection the hard way. Answers how many. */
  reset(): number {
    const open = [...this.#connections].filter(({ serves }) => serves !== undefined);
    for (const connection of this.#connections) connection.reset();
    this.#connections.clear();
    return open.length;
  }

  /** Accepts nobody from now on, and ends what there is. */
  refuse(): void {
    this.#refuses = true;
    this.reset();
  }

  /** Fine weather again. What was held back arrives now, late. */
  heal(): void {
    this.#refuses = false;
    this.weather = 'fine';
    this.delayMs = 0;
    for (const connection of this.#connections) {
      connection.heal();
      if (connection.isOver) this.#connections.delete(connection);
    }
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #delay(): number {
    if (this.delayMs > 0) this.disturbed += 1;
    return this.delayMs;
  }

  #judge(message: Message): Verdict {
    this.watch.comes(message);
    for (const trap of this.#traps) {
      const verdict = trap(message);
      if (verdict !== undefined) return verdict;
    }
    const verdict = fate(this.weather, message);
    if (verdict !== 'pass') this.disturbed += 1;
    return verdict;
  }
}
