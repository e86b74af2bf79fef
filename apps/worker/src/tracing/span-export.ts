import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { workerConfig } from '../config/worker.config.js';

/** A collector that does not answer must not hold up a stop for longer; what it was not sent by then is lost. */
const EXPORT_WITHIN_MS = 1_000;

/** Sends a span of each run to whoever collects them. Where nobody does, no span is ever made. */
@Injectable()
export class SpanExport implements OnApplicationShutdown {
  readonly #provider: NodeTracerProvider | undefined;

  constructor(@Inject(workerConfig.KEY) { node, collectsSpans }: ConfigType<typeof workerConfig>) {
    if (!collectsSpans) return;
    // where to, and with which headers, it reads from the environment itself, as the exporters of all languages do
    const exporter = new OTLPTraceExporter({ timeoutMillis: EXPORT_WITHIN_MS });
    this.#provider = new NodeTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'worker', 'service.instance.id': node }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#provider.register();
  }

  // jobs are stopped before this: the spans of the last runs are sent too
  async onApplicationShutdown(): Promise<void> {
    await this.#provider?.shutdown();
  }
}
