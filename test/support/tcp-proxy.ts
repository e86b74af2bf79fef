import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The network between one replica and its server, which a test may break in the ways in which networks break. */
export class TcpProxy implements AsyncDisposable {
  /** How long each answer takes on its way back, or as long as the one before it. */
  answerDelayMs = 0;
  /** How often a client has sent something after an answer, or at first. */
  roundTrips = 0;
  readonly #server = createServer((client) => {
    this.#join(client);
  });
  /** Both ends of every connection. */
  #sockets: { readonly client: Socket; readonly server: Socket }[] = [];
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
  freeze(): this {
    this.#isFrozen = true;
    for (const { client, server } of this.#sockets) for (const socket of [client, server]) socket.pause();
    return this;
  }

  /** Data that was under way arrives late, even if its sender has closed the connection meanwhile. */
  thaw(): this {
    this.#isFrozen = false;
    for (const { client, server } of this.#sockets) for (const socket of [client, server]) socket.resume();
    return this;
  }

  /** Ends every connection as a firewall or a crashed host does: with a reset, in the middle of the data. */
  reset(): void {
    for (const { client, server } of this.#sockets) {
      reset(client);
      server.destroy();
    }
    this.#sockets = [];
  }

  /** Every connection is reset, and so is each new one, until `accept()`. */
  refuse(): this {
    this.#refuses = true;
    this.reset();
    return this;
  }

  accept(): this {
    this.#refuses = false;
    return this;
  }

  /** From now on another server is there, as after a failover behind one address. */
  redirect(port: number): this {
    this.port = port;
    this.reset();
    return this;
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
    const server = connect(this.port, '127.0.0.1');
    this.#sockets.push({ client, server });
    let isAnswered = true;
    client.on('data', (data: Buffer) => {
      if (isAnswered) this.roundTrips += 1;
      isAnswered = false;
      server.write(data);
    });
    let before = Promise.resolve();
    server.on('data', (data: Buffer) => {
      isAnswered = true;
      const arrives = Promise.all([before, delay(this.answerDelayMs)]);
      before = arrives.then(() => void client.write(data));
    });
    client.on('error', () => undefined).on('close', () => server.end());
    server.on('error', () => undefined).on('close', () => client.destroy());
    if (this.#isFrozen) for (const socket of [client, server]) socket.pause();
  }
}

/**
 * Node cannot reset a socket that is ending: it emits `reset EINVAL`, takes the socket as closed, and its process turns
 * for ever at its end because the socket never is.
 */
function reset(socket: Socket): void {
  if (socket.writable) socket.resetAndDestroy();
  else socket.destroy();
}
