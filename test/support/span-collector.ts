import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** The fields of OTLP in JSON that are used here. */
interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly name: string; readonly attributes: readonly Attribute[] }[];
    }[];
  }[];
}

/** A span that has arrived; attributes as text. */
export interface CollectedSpan {
  readonly name: string;
  readonly service: ReadonlyMap<string, string>;
  readonly attributes: ReadonlyMap<string, string>;
}

/** A minimal OpenTelemetry collector that receives spans over HTTP. */
export class SpanCollector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  /** The number of requests with spans, answered or not. */
  requests = 0;
  readonly #server: Server;

  private constructor(private readonly answersAfterMs: number) {
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => {
        // the sender has gone, or it is no batch
        response.destroy();
      });
    });
  }

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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const batch = await json(request);
    if (this.answersAfterMs === Infinity) return;
    await delay(this.answersAfterMs);
    // a sender that has given up sends them again, or has lost them
    if (response.destroyed) return;
    if (request.url === '/v1/traces') this.spans.push(...spansOf(batch as Batch));
    response.setHeader('content-type', 'application/json').end('{}');
  }
}

function spansOf({ resourceSpans }: Batch): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, attributes }) => ({
        name,
        service: textsOf(resource.attributes),
        attributes: textsOf(attributes),
      })),
  );
}

function textsOf(attributes: readonly Attribute[]): ReadonlyMap<string, string> {
  return new Map(attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue)]));
}
