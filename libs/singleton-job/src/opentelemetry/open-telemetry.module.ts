import { type DynamicModule, Inject, Module } from '@nestjs/common';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type ApplicationReplica, REPLICA } from '../control/create-replica.js';
import { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';
import { OPEN_TELEMETRY_OPTIONS, type OpenTelemetryOptions } from './open-telemetry.options.js';

const IMPORTED_TWICE =
  'SingletonJobOpenTelemetryModule must be imported once, got it with and without forRoot(), or with forRoot() twice: ' +
  'keep one import, because each would count every run';

/**
 * Exports metrics of all jobs, and a span for each run. Import it once, in any module of an application that imports `SingletonJobModule`.
 * The span is the outermost interceptor, so what the others do is part of it.
 *
 * @example `imports: [SingletonJobModule.forRoot(options), SingletonJobOpenTelemetryModule]`
 */
@Module({ providers: [OpenTelemetryObserver, OpenTelemetryInterceptor] })
export class SingletonJobOpenTelemetryModule {
  /** Called by Nest. @internal */
  constructor(
    @Inject(REPLICA) { observers, interceptors }: ApplicationReplica,
    @Inject(OpenTelemetryObserver) observer: OpenTelemetryObserver,
    @Inject(OpenTelemetryInterceptor) interceptor: OpenTelemetryInterceptor,
  ) {
    if (observers.some((other) => other instanceof OpenTelemetryObserver))
      throw new InvalidOptionsError([IMPORTED_TWICE]);
    observers.push(observer);
    // those of the options are added later, and come after it
    interceptors.unshift(interceptor);
  }

  /** Uses other providers of metrics and traces than the global ones. */
  static forRoot(options: OpenTelemetryOptions): DynamicModule {
    return {
      module: SingletonJobOpenTelemetryModule,
      providers: [{ provide: OPEN_TELEMETRY_OPTIONS, useValue: options }],
    };
  }
}
