import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** A minimal OpenTelemetry collector that receives traces over HTTP. */
export class SpanCollector implements AsyncDisposable {
  /** What has arrived, as OTLP in JSON. */
  received = '';
  /** The number of requests, answered or not. */
  requests = 0;
  readonly #server = createServer((request, response) => {
    // the sender has gone
    this.#take(request, response).catch(() => response.destroy());
  });

  private constructor(private readonly answersAfterMs: number) {}

  /** One that never answers takes no span either. */
  static async start({ answersAfterMs = 0 } = {}): Promise<SpanCollector> {
    const collector = new SpanCollector(answersAfterMs);
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  /** What OTEL_EXPORTER_OTLP_ENDPOINT is set to. */
  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** The name and the scheduled time of each run that has a span. */
  get runs(): string[] {
    const spans = this.received.matchAll(
      /"name":"(run [^"]+)".*?"job\.scheduled_at","value":\{"stringValue":"([^"]+)"/g,
    );
    return [...spans].map(([, name = '', at = '']) => `${name} ${at}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const batch = await text(request);
    if (this.answersAfterMs === Infinity) return;
    await delay(this.answersAfterMs);
    // a sender that has given up sends them again, or has lost them
    if (response.destroyed) return;
    if (request.url === '/v1/traces') this.received += batch;
    response.setHeader('content-type', 'application/json').end('{}');
  }
}
