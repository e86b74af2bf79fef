import { Module } from '@nestjs/common';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { MetricsController } from './metrics.controller.js';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';

// our controller answers a scrape, so the exporter needs no port
const exporter = new PrometheusExporter({ preventServerStart: true });
const meterProvider = new MeterProvider({ readers: [exporter] });

/** The metrics of the jobs, for Prometheus, and a span for each run. */
@Module({
  imports: [SingletonJobOpenTelemetryModule.forRoot({ meterProvider })],
  controllers: [MetricsController],
  providers: [{ provide: PrometheusExporter, useValue: exporter }],
})
export class MetricsModule {}
