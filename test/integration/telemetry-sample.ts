// telemetry.ts
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const exporter = new PrometheusExporter({ port: Number(process.env.METRICS_PORT ?? 9464) });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
