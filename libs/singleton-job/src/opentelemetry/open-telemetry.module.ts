import { type DynamicModule, Inject, Logger, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { createNoopMeter, metrics, trace, type TracerProvider } from '@opentelemetry/api';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type Services, SERVICES } from '../create-services.js';
import { metricsObserver } from './metrics-observer.js';
import { OPEN_TELEMETRY_OPTIONS, type OpenTelemetryOptions, SCOPE } from './open-telemetry.options.js';
import { spanInterceptor } from './span-interceptor.js';

const IMPORTED_TWICE =
  'SingletonJobOpenTelemetryModule must be imported once, got it with and without forRoot(), or with forRoot() twice: ' +
  'keep one import, because each would count every run';

const NO_SDK =
  'no SDK of OpenTelemetry is registered, so no metrics and no spans are exported: start it before the application, ' +
  'as in docs/observability.md, or pass the providers to forRoot()';

/** The replicas whose metrics are exported. */
const MEASURED = new WeakSet<Services>();

/**
 * Exports metrics of all jobs, and a span for each run. Import it once, in any module of an application that imports
 * `SingletonJobModule`. The span is the outermost interceptor, so what the others do is part of it.
 *
 * @see docs/observability.md
 * @example `imports: [SingletonJobModule.forRoot(options), SingletonJobOpenTelemetryModule]`
 */
@Module({})
export class SingletonJobOpenTelemetryModule implements OnApplicationShutdown {
  readonly #stop: () => void;

  /** Called by Nest. @internal */
  constructor(
    @Inject(SERVICES) services: Services,
    @Optional() @Inject(OPEN_TELEMETRY_OPTIONS) { meterProvider, tracerProvider }: OpenTelemetryOptions = {},
  ) {
    if (MEASURED.has(services)) throw new InvalidOptionsError([IMPORTED_TWICE]);
    MEASURED.add(services);
    const meter = (meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE);
    const { observer, stop } = metricsObserver(services.registry, meter);
    this.#stop = stop;
    services.observers.push(observer);
    const tracers = tracerProvider ?? trace.getTracerProvider();
    if (meter === createNoopMeter() && !hasSdk(tracers)) new Logger(SingletonJobOpenTelemetryModule.name).warn(NO_SDK);
    const tracer = tracers.getTracer(SCOPE);
    // those of the options are added later, and come after it
    services.interceptors.unshift(spanInterceptor(tracer));
  }

  /** Uses other providers of metrics and traces than the global ones. */
  static forRoot(options: OpenTelemetryOptions): DynamicModule {
    return {
      module: SingletonJobOpenTelemetryModule,
      providers: [{ provide: OPEN_TELEMETRY_OPTIONS, useValue: options }],
    };
  }

  /** Called by Nest. The meter outlives the application. */
  onApplicationShutdown(): void {
    this.#stop();
  }
}

/** Until an SDK registers its provider, the global one stands in for it. */
function hasSdk(provider: TracerProvider & { getDelegateTracer?(scope: string): unknown }): boolean {
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer(SCOPE) !== undefined;
}
