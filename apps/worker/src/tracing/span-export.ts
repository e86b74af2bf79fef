import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { workerConfig } from '../config/worker.config.js';

/** Sends a span of each run to a collector. Without a collector there are no spans. */
@Injectable()
export class SpanExport implements OnApplicationShutdown {
  readonly #logger = new Logger(SpanExport.name);
  readonly #provider: NodeTracerProvider | undefined;

  constructor(@Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>) {
    const { node, spans } = config;
    if (!spans.areCollected) return;
    // the exporter reads its address, headers and timeouts from the environment itself
    const exporter = new OTLPTraceExporter();
    this.#provider = new NodeTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'worker', 'service.instance.id': node }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#provider.register();
  }

  // jobs stop before this, so the spans of the last runs are sent too
  async onApplicationShutdown(): Promise<void> {
    if (this.#provider === undefined) return;
    const { lastOnesWithinMs } = this.config.spans;
    // an export cannot be cancelled: after the wait only the exporter's own timeout ends it
    const failure = await Promise.race([
      this.#provider.shutdown().then(() => undefined, reasonOf),
      delay(lastOnesWithinMs, `no answer within ${lastOnesWithinMs} ms`, { ref: false }),
    ]);
    if (failure !== undefined) this.#logger.warn(`the last spans may be lost: ${failure}`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  // the message is empty if each address of a host has refused
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}
