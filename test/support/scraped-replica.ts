import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type Type } from '@nestjs/common';
import { SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';
import { OpenTelemetryObserver, SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { type StartedApplication, startApplication } from './nest-application.js';

/** One line of the text that Prometheus scrapes. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A replica of an application whose metrics are collected by the real SDK and scraped over HTTP. */
export class ScrapedReplica implements AsyncDisposable {
  private constructor(
    readonly started: StartedApplication,
    private readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(host: Type, options: SingletonJobOptions): Promise<ScrapedReplica> {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    const meterProvider = new MeterProvider({ readers: [exporter] });
    const server = createServer((request, response) => {
      exporter.getMetricsRequestHandler(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = await startApplication({
      imports: [
        SingletonJobModule.forRoot({ ...options, observers: [OpenTelemetryObserver] }),
        SingletonJobOpenTelemetryModule.forRoot({ meterProvider }),
      ],
      providers: [host],
    });
    const { port } = server.address() as AddressInfo;
    return new ScrapedReplica(started, `http://127.0.0.1:${String(port)}/metrics`, async () => {
      await started.app.close();
      server.closeAllConnections();
      server.close();
      await meterProvider.shutdown();
    });
  }

  /** What a Prometheus server would see now. */
  async scrape(): Promise<readonly Sample[]> {
    const response = await fetch(this.url);
    const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return lines.map(sampleOf);
  }

  /** The values of one metric, by the labels that are asked for. */
  async values(name: string, labels: Readonly<Record<string, string>> = {}): Promise<readonly number[]> {
    const isMeant = (sample: Sample): boolean =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
    return (await this.scrape()).filter(isMeant).map(({ value }) => value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

function sampleOf(line: string): Sample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', of = '']): [string, string] => [
    label,
    of,
  ]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
