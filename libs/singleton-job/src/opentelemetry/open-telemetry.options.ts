import { type MeterProvider, type TracerProvider } from '@opentelemetry/api';

/** Where metrics and spans go. Each left out is the global one, which the SDK registers before the application is made. */
export interface OpenTelemetryOptions {
  /** Where metrics go. @default the global one */
  readonly meterProvider?: MeterProvider | undefined;
  /** Where spans go. @default the global one */
  readonly tracerProvider?: TracerProvider | undefined;
}

/** The token of {@link OpenTelemetryOptions}. */
export const OPEN_TELEMETRY_OPTIONS = Symbol.for('nestjs-singleton-job:open-telemetry-options');

/** The name of our meter and tracer. */
export const SCOPE = 'nestjs-singleton-job';

/** `job` would be taken: Prometheus calls what it scrapes so. */
export const JOB_NAME = 'job.name';
