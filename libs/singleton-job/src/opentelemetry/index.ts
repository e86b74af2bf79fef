/** Metrics and spans, from events and around runs. */
export { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
export { OpenTelemetryObserver } from './open-telemetry-observer.js';
export { type OpenTelemetryOptions } from './open-telemetry.options.js';
export { SingletonJobOpenTelemetryModule } from './open-telemetry.module.js';
