import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** The fields of OTLP in JSON that are used here. */
interface Attributes {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
  }[];
}
interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: Attributes;
    readonly scopeSpans: readonly { readonly spans: readonly (Attributes & { readonly name: string })[] }[];
  }[];
}

/** A span that has arrived; its attributes, and those of its sender, as text. */
interface CollectedSpan {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** A minimal OpenTelemetry collector that receives spans over HTTP. */
export class SpanCollector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  /** The number of requests with spans, answered or not. */
  requests = 0;
  readonly #server = createServer((request, response) => {
    // the sender has gone, or it is no batch
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
      .map(({ name, attributes }) => {
        const texts = [...resource.attributes, ...attributes].map(
          ({ key, value }) => [key, value.stringValue ?? String(value.intValue)] as const,
        );
        return { name, attributes: new Map(texts) };
      }),
  );
}
