import { type MeterProvider, type TracerProvider } from '@opentelemetry/api';

/**
 * Where metrics and spans go. By default the global providers, which the SDK registers before the application is
 * created.
 */
export interface OpenTelemetryOptions {
  /** Where metrics go. @default the global one */
  readonly meterProvider?: MeterProvider | undefined;
  /** Where spans go. @default the global one */
  readonly tracerProvider?: TracerProvider | undefined;
}

/** The token of {@link OpenTelemetryOptions}. */
export const OPEN_TELEMETRY_OPTIONS = Symbol.for('nestjs-singleton-job:open-telemetry-options');

/** The name of the meter and of the tracer. */
export const SCOPE = 'nestjs-singleton-job';

/** Not `job`: Prometheus uses that label for the scraped target. */
export const JOB_NAME = 'job.name';
