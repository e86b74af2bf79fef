import { type DynamicModule, Module } from '@nestjs/common';
import { NamedCheck } from './named-check.js';
import { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';
import { OPEN_TELEMETRY_OPTIONS, type OpenTelemetryOptions } from './open-telemetry.options.js';

/**
 * Provides the observer and the interceptor. Name both in the options of `SingletonJobModule`:
 * `observers: [OpenTelemetryObserver], interceptors: [OpenTelemetryInterceptor]`.
 */
@Module({
  providers: [OpenTelemetryObserver, OpenTelemetryInterceptor, NamedCheck],
  exports: [OpenTelemetryObserver, OpenTelemetryInterceptor],
})
export class SingletonJobOpenTelemetryModule {
  /** Uses other providers of metrics and traces than the global ones. */
  static forRoot(options: OpenTelemetryOptions): DynamicModule {
    return {
      module: SingletonJobOpenTelemetryModule,
      providers: [{ provide: OPEN_TELEMETRY_OPTIONS, useValue: options }],
    };
  }
}
