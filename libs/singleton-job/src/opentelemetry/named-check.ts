import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { isClass, RESOLVED_OPTIONS, type ResolvedOptions } from '../options/index.js';
import { OpenTelemetryInterceptor } from './open-telemetry-interceptor.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';

const NOT_NAMED =
  'counts nothing and makes no spans: the options of SingletonJobModule do not name it. ' +
  'Write observers: [OpenTelemetryObserver] for metrics, interceptors: [OpenTelemetryInterceptor] for spans';

/** Warns if the module is imported and the options name neither its observer nor its interceptor. */
@Injectable()
export class NamedCheck implements OnApplicationBootstrap {
  constructor(@Inject(ModuleRef) private readonly moduleRef: ModuleRef) {}

  onApplicationBootstrap(): void {
    const { observers, interceptors } = this.moduleRef.get<ResolvedOptions>(RESOLVED_OPTIONS, { strict: false });
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
