/** Metrics from events, and a span around each run. */
export { type OpenTelemetryOptions } from './open-telemetry.options.js';
export { SingletonJobOpenTelemetryModule } from './open-telemetry.module.js';
