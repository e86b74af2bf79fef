import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

interface Pair {
  readonly client: Socket;
  readonly redis: Socket;
}

/** The network between one replica and its Redis, which a test may break in the ways in which networks break. */
export class TcpProxy implements AsyncDisposable {
  /** How long each answer takes on its way back, or as long as the one before it. */
  answerDelayMs = 0;
  /** Everything that was ever sent to Redis through here, one entry for each connection. */
  readonly sent: Buffer[][] = [];
  readonly #server = createServer((client) => {
    this.#join(client);
  });
  readonly #pairs = new Set<Pair>();
  #isFrozen = false;
  #refuses = false;

  private constructor(private port: number) {}

  static async start(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the proxy has been stopped');
    return `redis://127.0.0.1:${String(address.port)}`;
  }

  /** Half open: every connection stands, also new ones, and nothing arrives on either side until `thaw()`. */
  freeze(): void {
    this.#isFrozen = true;
    for (const { client, redis } of this.#pairs) for (const socket of [client, redis]) socket.pause();
  }

  /** Data that was under way arrives late, even if its sender has closed the connection meanwhile. */
  thaw(): void {
    this.#isFrozen = false;
    for (const { client, redis } of this.#pairs) for (const socket of [client, redis]) socket.resume();
  }

  /** Ends every connection as a firewall or a crashed host does: with a reset, in the middle of the data. */
  reset(): void {
    for (const { client, redis } of this.#pairs) {
      reset(client);
      redis.destroy();
    }
    this.#pairs.clear();
  }

  /** Every connection is reset, and so is each new one, until `accept()`. */
  refuse(): void {
    this.#refuses = true;
    this.reset();
  }

  accept(): void {
    this.#refuses = false;
  }

  /** From now on another server is there, as after a failover behind one address. */
  redirect(port: number): void {
    this.port = port;
    this.reset();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    if (this.#refuses) {
      reset(client);
      return;
    }
    const pair = { client, redis: connect(this.port, '127.0.0.1') };
    const { redis } = pair;
    const sent: Buffer[] = [];
    this.sent.push(sent);
    this.#pairs.add(pair);
    client.on('data', (data: Buffer) => {
      sent.push(data);
      redis.write(data);
    });
    let before = Promise.resolve();
    redis.on('data', (data: Buffer) => {
      const arrives = Promise.all([before, delay(this.answerDelayMs)]);
      before = arrives.then(() => void client.write(data));
    });
    client.on('error', () => undefined).on('close', () => redis.end());
    redis.on('error', () => undefined).on('close', () => client.destroy());
    if (this.#isFrozen) for (const socket of [client, redis]) socket.pause();
  }
}

/**
 * Node cannot reset a socket that is ending: it emits `reset EINVAL`, takes the socket as closed, and its process turns for ever at its end
 * because the socket never is.
 */
function reset(socket: Socket): void {
  if (socket.writable) socket.resetAndDestroy();
  else socket.destroy();
}
