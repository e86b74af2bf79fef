import { Inject, Injectable, Logger, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { isClass, RESOLVED_OPTIONS, type ResolvedOptions } from '../options/index.js';
import { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';

const NOT_NAMED =
  'counts nothing and makes no spans: the options of SingletonJobModule do not name it. ' +
  'Write observers: [OpenTelemetryObserver] for metrics, interceptors: [OpenTelemetryInterceptor] for spans';

/** Warns if jobs are enabled and the options name neither the observer nor the interceptor. */
@Injectable()
export class NamedCheck implements OnApplicationBootstrap {
  constructor(@Optional() @Inject(RESOLVED_OPTIONS) private readonly options?: ResolvedOptions) {}

  onApplicationBootstrap(): void {
    // a test that switches the jobs off may leave out the other options
    if (this.options?.enabled !== true) return;
    const { observers, interceptors } = this.options;
    const isNamed = [...observers, ...interceptors].some((extension) => {
      const instance: unknown = isClass(extension) ? extension.prototype : extension;
      // the prototype of a class is no instance of it
      return [OpenTelemetryObserver, OpenTelemetryInterceptor].some(
        (kind) => instance === kind.prototype || instance instanceof kind,
      );
    });
    if (!isNamed) new Logger('SingletonJobOpenTelemetryModule').warn(NOT_NAMED);
  }
}
