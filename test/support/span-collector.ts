import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** As OTLP has it in JSON, as far as it is asked for here. */
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

/** What an OpenTelemetry collector is to those who send it spans over HTTP. */
export class SpanCollector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void json(request).then((batch) => {
        if (request.url === '/v1/traces') this.spans.push(...spansOf(batch as Batch));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
  }

  static async start(): Promise<SpanCollector> {
    const collector = new SpanCollector();
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
