/** Metrics from events, and a span around each run. */
export { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
export { OpenTelemetryObserver } from './open-telemetry-observer.js';
export { type OpenTelemetryOptions } from './open-telemetry.options.js';
export { SingletonJobOpenTelemetryModule } from './open-telemetry.module.js';
