import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Page } from './fenced-http.js';

interface Answer {
  readonly status: number;
  readonly etag?: string;
  readonly body?: unknown;
}

/** A server with a page that is changed by If-Match, and a till that charges once for each idempotency key. */
export class FencedServer implements AsyncDisposable {
  page: Page = { text: '', fencingToken: 0 };
  /** The status of every PUT, in order. */
  readonly puts: number[] = [];
  readonly charges = new Map<string, unknown>();
  #version = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const { status, etag, body: answer } = this.#answer(request, body);
        response.writeHead(status, etag === undefined ? {} : { etag }).end(JSON.stringify(answer));
      });
    });
  }

  static async start(): Promise<FencedServer> {
    const server = new FencedServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ method, headers }: IncomingMessage, body: unknown): Answer {
    if (method === 'PUT') return this.#put(headers['if-match'], body as Page);
    if (method === 'POST') return this.#charge(String(headers['idempotency-key']), body);
    return { status: 200, etag: this.#etag, body: this.page };
  }

  #put(ifMatch: string | undefined, page: Page): Answer {
    const isMatched = ifMatch === undefined || ifMatch === this.#etag;
    this.puts.push(isMatched ? 200 : 412);
    if (!isMatched) return { status: 412, etag: this.#etag };
    this.page = page;
    this.#version += 1;
    return { status: 200, etag: this.#etag };
  }

  #charge(key: string, body: unknown): Answer {
    if (!this.charges.has(key)) this.charges.set(key, body);
    return { status: 200 };
  }

  get #etag(): string {
    return `"v${String(this.#version)}"`;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks = await request.toArray();
  const text = Buffer.concat(chunks as Buffer[]).toString();
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}
